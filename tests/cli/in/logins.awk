# 400 pages, for each of which web opens a connection to a database, prepares a statement, runs it and says good-bye.
#   forget   each so many times it does not say good-bye, and the connection is used no more
#   login    ms that a login takes
#   keep     1: all go over one connection, and each so many times the statement is not closed
function call(time, from, to, id, label, flow, setup) {
	printf "%.6f\tCALL\t%s\t%s\t%s\t%s\tmysql\t%s\t%s\n", time, from, to, id, label, flow, setup
}
function back(time, from, to, id, label, flow, setup) {
	printf "%.6f\tRETURN\t%s\t%s\t%s\t%s\tmysql\t%s\t%s\n", time, from, to, id, label, flow, setup
}
function tell(time, from, to, id, label, flow, setup) {
	printf "%.6f\tMESSAGE\t%s\t%s\t%s\t%s\tmysql\t%s\t%s\n", time, from, to, id, label, flow, setup
}
function ask(time, id, label, flow, setup, ms) {
	call(time, "web", "db", id, label, flow, setup)
	back(time + ms / 1000, "db", "web", id, label, flow, setup)
}
BEGIN {
	print "#wirepath-trace 1\n#columns\ttime\tkind\tsender\treceiver\tid\tlabel\tprotocol\tflow\tsetup"
	for (i = 1; i <= 400; i++) {
		t = 1000 + i / 10
		flow = keep ? 1001 : 1000 + i
		forgets = forget && i % forget == 0
		call(t, "client", "web", "w" i, "GET /page", i, "")
		if (!keep || i == 1)
			ask(t + 0.001, "l" i, "(login)", flow, 1, login)
		ask(t + 0.011, "p" i, "PREPARE SELECT posts", flow, "", 0.2)
		ask(t + 0.012, "s" i, "SELECT posts", flow, "", 0.5 + i % 7 / 10)
		if (!keep || !forgets)
			tell(t + 0.014, "web", "db", "c" i, "CLOSE", flow, "")
		if (!keep && !forgets)
			tell(t + 0.015, "web", "db", "q" i, "(quit)", flow, 1)
		back(t + 0.020, "web", "client", "w" i, "GET /page", i, "")
	}
}
