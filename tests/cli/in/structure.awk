# A system before (mode 0) and after a change of its structure: 1: a call that some requests made is gone; 2: a few
# make a new one; 3: one is made three times; 4: one that some made is made by all; 5: one in a hundred makes a new one.
# With ops requests are of twelve kinds.

# Lehmer's generator by Park and Miller (CACM 31, 1988): rand() is another in each awk.
function random() {
	state = state * 16807 % 2147483647
	return state / 2147483647
}
function call(to, label, ns) {
	printf "%.6f\tCALL\tweb\t%s\t%d\t%s\n", t, to, id, label
	t += ns
	printf "%.6f\tRETURN\t%s\tweb\t%d\t%s\n", t, to, id++, label
	t += 0.0002
}
BEGIN {
	state = seed * 7919 + 1
	for (i = 0; i < 10; i++)
		random()
	split("cart item search user order home help login logout about list pay", names, " ")
	print "#wirepath-trace 1\n#columns\ttime\tkind\tsender\treceiver\tid\tlabel"
	for (i = 0; i < 2000; i++) {
		t = 1000000000 + i * 0.02
		root = id++
		name = ops ? names[1 + i * 7 % 12] : ""
		printf "%.6f\tCALL\tclient\tweb\t%d\tGET /%s\n", t, root, name
		t += 0.001 * (1 - log(1 - random()))
		for (k = 0; k < (mode == 3 ? 3 : 1); k++)
			call("db", "SELECT", 0.001 * (1 - log(1 - random())))
		if ((mode != 1 && random() < 0.3) || mode == 4)
			call("cache", "GET", 0.0005)
		if ((mode == 2 && random() < 0.03) || (mode == 5 && random() < 0.01))
			call("log", "POST /log", 0.0005)
		printf "%.6f\tRETURN\tweb\tclient\t%d\tGET /%s\n", t, root, name
	}
}
