/*
 * Pages through axe-core, all its rules: light, dark and narrow, with everything open that can be.
 *
 *   node accessible.js CHROMIUM AXE.js PAGE.html...
 */
"use strict";

const fs = require("fs");
const { Browser } = require("./browser.js");

const [program, axe, ...pages] = process.argv.slice(2);
const rules = fs.readFileSync(axe, "utf8") + ";0";
const violations = "axe.run(document, { resultTypes: ['violations'] }).then(result => ({ passed: result.passes.length," +
	"violations: result.violations.map(one => [one.id, one.help, one.nodes.length, one.nodes[0].html.slice(0, 300)]) }))";

(async () => {
	const browser = new Browser(program);
	let failed = 0;
	try {
		await browser.start();
		for (const page of pages)
			for (const look of [{}, { dark: true }, { width: 360 }]) {
				await browser.open("file://" + fs.realpathSync(page), look);
				await browser.ask("document.querySelectorAll('details').forEach((one, i) => { one.open = i < 12; }); 0");
				if (await browser.ask("!!document.querySelector('input[type=file]')")) {
					await browser.choose("input[type=file]", page);
					for (let i = 0; i < 100 && !await browser.ask("!!document.getElementById('beside')"); i++)
						await new Promise((done) => setTimeout(done, 20));
				}
				await browser.ask(rules);
				const seen = await browser.ask(violations);
				for (const one of seen.violations) {
					console.log("FAIL: " + page + " " + JSON.stringify(look) + ": " + JSON.stringify(one));
					failed++;
				}
				if (seen.passed < 10) {
					console.log("FAIL: " + page + ": only " + seen.passed + " rules were tried");
					failed++;
				}
			}
	} finally {
		await browser.stop();
	}
	process.exit(failed ? 1 : 0);
})().catch((error) => {
	console.log("FAIL: " + error.stack);
	process.exit(1);
});
