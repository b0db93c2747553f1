// A client of `memetik serve` in JavaScript, without packages: for browsers, Node.js 22, and Node.js 20 with
// --experimental-websocket.
//
//   memetik serve panda --port 8642
//   node examples/clients/javascript/client.mjs http://127.0.0.1:8642 [TOKEN]

const [address = "http://127.0.0.1:8642", token = ""] = process.argv.slice(2);
const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };

// One question over HTTP. Bad input throws what the server says about it.
async function ask(path, data) {
  const how = data ? { method: "POST", headers, body: JSON.stringify(data) } : { headers };
  const answer = await fetch(address + path, how);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.message);
  return found;
}

// Many questions over one WebSocket: `await solver.solve(request)`; answers come in the order of the questions.
class Solver {
  static async connect(path) {
    const solver = new Solver();
    solver.waiting = [];
    solver.socket = new WebSocket(address.replace("http", "ws") + path + (token && `?token=${token}`));
    solver.socket.onmessage = (event) => solver.waiting.shift()(JSON.parse(event.data));
    await new Promise((open, fail) => { solver.socket.onopen = open; solver.socket.onerror = fail; });
    return solver;
  }
  solve(request) {
    this.socket.send(JSON.stringify(request));
    return new Promise((resolve) => this.waiting.push(resolve));
  }
  close() { this.socket.close(); }
}

const body = await ask("/body");
const tip = Object.values(body.groups)[0].tips[0];
console.log(`${body.name}: ${body.joints.length} joints, tip ${tip}`);

const home = Object.fromEntries(body.joints.map((joint) => [joint.name, joint.home]));
const pose = (await ask("/forward", { state: home, links: [tip] }))[tip];
const hand = { kind: "Pose", name: "hand", frame: tip, ...pose }; // metres; quaternions are w, x, y, z

const solution = await ask("/solve", { objectives: [hand], state: home });
console.log("HTTP:", solution.status, solution.q);

try {
  await ask("/solve", { objectives: [{ ...hand, frame: "no such link" }] });
} catch (error) {
  console.log("refused:", error.message.split(".")[0]);
}

// A circle of targets over a WebSocket, each solved from the posture before.
const solver = await Solver.connect("/ws");
let state = solution.q, reached = 0;
const steps = 200, begin = performance.now();
for (let k = 0; k < steps; k++) {
  const angle = (2 * Math.PI * k) / steps;
  const [x, y, z] = pose.position;
  const position = [x - 0.05 + 0.05 * Math.cos(angle), y + 0.05 * Math.sin(angle), z];
  const found = await solver.solve({ objectives: [{ ...hand, position }], state });
  reached += found.reached;
  state = found.q;
}
solver.close();
console.log(`WebSocket: ${reached} of ${steps} reached, ${((performance.now() - begin) / steps).toFixed(2)} ms each`);

// A servo: joints move within their limits of velocity and acceleration, whatever the targets do.
const servo = await Solver.connect("/servo");
await servo.solve({ objectives: [hand], state: home, rate: 100 });
let followed;
for (let k = 0; k < 200; k++) followed = await servo.solve({ targets: { hand: { position: [pose.position[0] - 0.1, ...pose.position.slice(1)] } } });
servo.close();
console.log("servo:", followed.reached ? "arrived" : "under way");
