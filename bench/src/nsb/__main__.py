"""`python -m nsb`: the command line."""

from nsb.cli import main

if __name__ == "__main__":
    main()
