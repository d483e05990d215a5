module nosilverbullet/upstream

go 1.26.0
