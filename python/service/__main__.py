from service.main import main

raise SystemExit(main())
