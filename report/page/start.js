/* What the script does first, once all of it is there; it stands last. */

	load();
	each("table.sortable", function (table, index) { makeSortable(table, String(index)); });
	each("table.tree", function (table) { trees.push(makeTree(table)); });
	makeBar();
	fillHelp();
	each("svg.timeline", makeTimeline);
	each("svg.flame", makeFlame);
	apply();
	nameRegions();
	document.addEventListener("keydown", onKey);
	addEventListener("beforeprint", onPrint);
	addEventListener("hashchange", function () { state = {}; load(); apply(); });
	root.setAttribute("data-ready", "1");
