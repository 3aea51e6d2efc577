/*
 * Files opened in the programs they are for, in Chromium.
 *
 *   node viewers.js CHROMIUM SPEEDSCOPE/index.html MERMAID.js FILE.speedscope... FILE.mermaid...
 */
"use strict";

const fs = require("fs");
const { run } = require("../page/browser.js");

const [program, viewer, mermaid, ...files] = process.argv.slice(2);
let failed = 0;

function fail(...what) {
	failed++;
	console.log("FAIL: " + what.join(" "));
}

/* Through the way in that speedscope has for files of its own command line; it names the first profile in the title. */
async function speedscope(browser, file) {
	const text = fs.readFileSync(file, "utf8"), profile = JSON.parse(text);
	const script = fs.realpathSync(file) + ".js";
	fs.writeFileSync(script, "speedscope.loadFileFromBase64('x', '" + Buffer.from(text).toString("base64") + "')");
	await browser.open("file://" + fs.realpathSync(viewer) + "#localProfilePath=" + script);
	if (profile.profiles.every((one) => one.samples.length === 0))
		return;
	const opened = await browser.until("document.title === " + JSON.stringify(profile.name + " - speedscope"));
	const page = await browser.ask("document.body.innerText");
	if (!opened)
		fail("speedscope does not open", file + ":", page.slice(0, 300));
	if (profile.profiles.length > 1 && !page.includes("(1/" + profile.profiles.length + ")"))
		fail("speedscope does not see all profiles of", file + ":", page.slice(0, 300));
}

async function drawn(browser, file) {
	const text = fs.readFileSync(file, "utf8");
	const svg = await browser.ask("mermaid.render('drawing', " + JSON.stringify(text) + ").then(one => one.svg, error => '' + error)");
	if (!svg.startsWith("<svg"))
		fail("mermaid does not draw", file + ":", svg.slice(0, 300));
	const boxes = (svg.match(/class="node /g) || []).length, wanted = (text.match(/^\s*n\d+[[(]/gm) || []).length;
	if (boxes !== wanted || (text.includes("-->") && !boxes))
		fail("mermaid draws", boxes, "nodes of", wanted, "in", file);
}

run(program, async (browser) => {
	for (const file of files.filter((one) => one.endsWith(".speedscope")))
		await speedscope(browser, file);
	await browser.open("about:blank");
	await browser.ask(fs.readFileSync(mermaid, "utf8") + ";0");
	await browser.ask("mermaid.initialize({ startOnLoad: false }); 0");
	for (const file of files.filter((one) => one.endsWith(".mermaid")))
		await drawn(browser, file);
	return failed;
});
