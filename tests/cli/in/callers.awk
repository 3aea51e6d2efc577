# Nine addresses that nobody calls ask a service now and then, which asks another.
BEGIN {
	OFS = "\t"
	print "#wirepath-trace 1"
	print "#columns", "time", "kind", "sender", "receiver", "id"
	for (i = 0; i < 450; i++) {
		t = 1000 + i * 0.1 + i * 7919 % 101 / 1500
		who = "10.0.0." (1 + i * i % 9 + i % 3)
		print time(t), "CALL", who, "10.0.1.1", "a" i
		print time(t += i * 31 % 17 / 10000 + 0.002), "CALL", "10.0.1.1", "10.0.1.2", "b" i
		print time(t += i * 37 % 19 / 10000 + 0.003), "RETURN", "10.0.1.2", "10.0.1.1", "b" i
		print time(t += i * 41 % 13 / 10000 + 0.001), "RETURN", "10.0.1.1", who, "a" i
	}
}

function time(t) {
	return sprintf("%.6f", t)
}
