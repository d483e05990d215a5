"""The harness of No Silver Bullet: it starts contenders, drives them with k6, and judges what it saw."""
