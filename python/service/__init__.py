"""The Python service of No Silver Bullet; CONTRACT.md says what it must do."""
