module nosilverbullet/generator

go 1.26
