# A trace of 200 names that would harm a page, as callers, nodes and operations.
BEGIN {
	n = split("<img src=x onerror=alert(1)>|\"><script>alert(1)</script>|</script><script>alert(1)//|</style><b>|</title>|<!--|]]>|" \
		"' onmouseover='alert(1)|javascript:alert(1)|=cmd()|+1+1|@sum|-1|&lt;b&gt;|&#60;|{{7*7}}|${x}|%s%n|\\\\x|`id`|" \
		"\\x1b]0;pwn\\x07|\\x00|\\x7f|\\x0d\\x0a|\\xff\\xfe|a\342\200\256gnp.exe|\342\201\246x|\342\200\213|\302\205|\"|'|<|&|;|..|//|#p1|\\t", base, "|")
	long = "<"
	while (length(long) < 10000)
		long = long long
	print "#wirepath-trace 1"
	print "#columns\ttime\tkind\tsender\treceiver\tid\tlabel"
	for (i = 0; i < 200; i++) {
		name = base[i % n + 1] " " i
		if (i % 50 == 49)
			name = substr(long, 1, 10000) i
		caller = base[(i * 7) % n + 1] " c" i % 3
		printf "%d.%06d000\tCALL\t%s\t%s\th%d\t%s\n", 1700000000 + i, 0, caller, name, i, base[(i * 3) % n + 1]
		printf "%d.%06d000\tCALL\t%s\t%s\tk%d\t%s\n", 1700000000 + i, 100, name, base[(i * 5) % n + 1] " d", i, base[(i * 11) % n + 1]
		printf "%d.%06d000\tRETURN\t%s\t%s\tk%d\t%s\n", 1700000000 + i, 200, base[(i * 5) % n + 1] " d", name, i, ""
		printf "%d.%06d000\tRETURN\t%s\t%s\th%d\t%s\n", 1700000000 + i, 500, name, caller, i, ""
	}
}
