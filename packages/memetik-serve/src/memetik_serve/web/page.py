"""The description for people: one page without anything from elsewhere, made from openapi.json in the browser."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>memetik serve</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.4rem; } details { border: 1px solid #ddd; border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; } code, pre, textarea { font: 13px/1.4 ui-monospace, monospace; }
textarea { width: 100%; min-height: 9rem; box-sizing: border-box; } pre { background: #f5f6f8; padding: .6rem; overflow: auto; }
.verb { display: inline-block; min-width: 4.5rem; font-weight: 600; color: #28527a; } .about { color: #555; }
</style></head><body>
<h1>memetik serve</h1>
<p id="about" class="about"></p>
<p>Token, if the server asks for one: <input id="token" size="30"></p>
<div id="paths"></div>
<h2>Kinds of objectives</h2><div id="kinds"></div>
<p><a href="openapi.json">openapi.json</a></p>
<script>
const make = (tag, text, parent) => { const e = document.createElement(tag); e.textContent = text; parent.append(e); return e; };
const headers = () => { const t = document.getElementById("token").value;
  return t ? { "Authorization": "Bearer " + t, "Content-Type": "application/json" } : { "Content-Type": "application/json" }; };
function operation(path, verb, about, api, example) {
  const box = make("details", "", document.getElementById("paths"));
  const head = make("summary", "", box);
  make("span", verb.toUpperCase(), head).className = "verb"; make("code", path, head);
  make("span", "  " + about.summary, head).className = "about";
  const takes = about.requestBody;
  if (takes) {
    const ref = takes.content["application/json"].schema["$ref"].split("/").pop();
    make("pre", ref + " " + JSON.stringify(api.components.schemas[ref].properties ?? {}, null, 1), box);
  }
  if (about.summary.startsWith("WebSocket") || path.includes("{")) return;
  const text = takes ? make("textarea", example, box) : null;
  const button = make("button", "send", box), out = make("pre", "", box);
  button.onclick = async () => {
    const answer = await fetch(path, { method: verb.toUpperCase(), headers: headers(), body: text ? text.value : undefined });
    out.textContent = answer.status + "\\n" + JSON.stringify(await answer.json(), null, 1);
  };
}
async function show() {
  const api = await (await fetch("openapi.json", { headers: headers() })).json();
  const body = await (await fetch("body", { headers: headers() })).json();
  document.getElementById("paths").replaceChildren(); document.getElementById("kinds").replaceChildren();
  document.getElementById("about").textContent =
    api.info.description + " Here: " + body.name + ", " + body.joints.length + " joints.";
  const tip = Object.values(body.groups)[0]?.tips[0] ?? body.links.at(-1);
  const example = JSON.stringify({ objectives: [{ kind: "Position", frame: tip, target: [0.3, 0.1, 0.4] }] }, null, 1);
  for (const [path, verbs] of Object.entries(api.paths))
    for (const [verb, about] of Object.entries(verbs))
      if (about.summary) operation(path, verb, about, api, path === "/solve" || path === "/explain" ? example : "{}");
  for (const [name, schema] of Object.entries(api.components.schemas))
    if (schema.properties?.kind) {
      const box = make("details", "", document.getElementById("kinds"));
      make("summary", name + ": " + schema.description, box);
      make("pre", JSON.stringify(schema.properties, null, 1), box);
    }
}
document.getElementById("token").onchange = show;
show().catch(() => { document.getElementById("about").textContent = "This server needs its token."; });
</script></body></html>
"""
