# 300 requests, of which one calls app2, which calls db five times.
function call(time, from, to, id, label) {
	printf "%.3f\tCALL\t%s\t%s\t%s\t%s\n", time, from, to, id, label
}
function back(time, from, to, id) {
	printf "%.3f\tRETURN\t%s\t%s\t%s\t\n", time, from, to, id
}
BEGIN {
	print "#wirepath-trace 1\n#columns\ttime\tkind\tsender\treceiver\tid\tlabel"
	for (i = 0; i < 300; i++) {
		call(1000 + i, "client", "web", "w" i, "GET /")
		if (i == 7) {
			call(1000.01 + i, "web", "app2", "a", "rare")
			for (k = 0; k < 5; k++) {
				call(1000.02 + i + k / 100, "app2", "db", "d" k, "SELECT")
				back(1000.025 + i + k / 100, "db", "app2", "d" k)
			}
			back(1000.1 + i, "app2", "web", "a")
		}
		back(1000.2 + i, "web", "client", "w" i)
	}
}
