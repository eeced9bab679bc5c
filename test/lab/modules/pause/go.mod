module traffic.example.com/lab/pause

go 1.26.6
