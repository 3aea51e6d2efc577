/*
 * Pages through axe-core, all its rules: light, dark and narrow, with everything open that can be.
 *
 *   node accessible.js CHROMIUM AXE.js PAGE.html...
 */
"use strict";

const fs = require("fs");
const { run } = require("./browser.js");

const [program, axe, ...pages] = process.argv.slice(2);
const rules = fs.readFileSync(axe, "utf8") + ";0";
const violations = "axe.run(document, { resultTypes: ['violations'] }).then(result => ({ passed: result.passes.length," +
	"violations: result.violations.map(one => [one.id, one.help, one.nodes.length, one.nodes[0].html.slice(0, 300)]) }))";

/* How many violations PAGE has. */
async function tried(browser, page, look) {
	await browser.open("file://" + fs.realpathSync(page), look);
	await browser.ask("document.querySelectorAll('details').forEach((one, i) => { one.open = i < 12; }); 0");
	if (await browser.ask("!!document.querySelector('input[type=file]')")) {
		await browser.choose("input[type=file]", page);
		await browser.until("!!document.getElementById('beside')");
		await browser.ask("document.querySelectorAll('details.pair').forEach((one, i) => { one.open = i < 3; }); 0");
		await browser.until("!!document.querySelector('details.pair details')");
		await browser.ask("document.querySelectorAll('details.pair details').forEach((one, i) => { one.open = i < 3; }); 0");
		await browser.ask("document.querySelector('[role=alert]').hidden = false; document.querySelector('[role=alert]').textContent = 'x is empty.'");
	}
	await browser.ask(rules);
	const seen = await browser.ask(violations);
	for (const one of seen.violations)
		console.log("FAIL: " + page + " " + JSON.stringify(look) + ": " + JSON.stringify(one));
	if (seen.passed < 10)
		console.log("FAIL: " + page + ": only " + seen.passed + " rules were tried");
	return seen.violations.length + (seen.passed < 10);
}

run(program, async (browser) => {
	const looks = [{}, { dark: true }, { width: 360 }];
	let failed = 0;
	for (const page of pages)
		for (const look of process.env.WP_TEST_FAST ? looks.slice(0, 1) : looks)
			failed += await tried(browser, page, look);
	return failed;
});
