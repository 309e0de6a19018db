// Run calls of the core, given as JSON on the standard input, in its WebAssembly build.
// usage: node run_wasm.mjs core.wasm
import { readFileSync } from "node:fs";

const RUNNING = 1;
const PAGE = 65536;

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const core = new WebAssembly.Instance(module).exports;
const first = Math.ceil(core.memory.buffer.byteLength / 8) * 8;
let end = first;

// Return the address of new memory, which is zero.
function allocate(bytes) {
  const address = end;
  end += Math.ceil(bytes / 8) * 8;
  const missing = end - core.memory.buffer.byteLength;
  if (missing > 0) core.memory.grow(Math.ceil(missing / PAGE));
  new Uint8Array(core.memory.buffer, address, bytes).fill(0);
  return address;
}

// Sizes have eight bytes and pointers have four.
function writeStructure(fields) {
  const address = allocate(8 * fields.length);
  const view = new DataView(core.memory.buffer);
  let offset = 0;
  for (const field of fields) {
    if (typeof field === "bigint") {
      view.setBigInt64(address + offset, field, true);
      offset += 8;
    } else {
      view.setUint32(address + offset, field, true);
      offset += 4;
    }
  }
  return address;
}

function run(call) {
  end = first;
  const arrays = new Map(); // id -> [address, bytes]
  const value = (argument) => {
    if ("integer" in argument) return BigInt(argument.integer);
    if ("real" in argument) return argument.real;
    if ("pointer" in argument) return argument.pointer;
    if ("structure" in argument) return writeStructure(argument.structure.map(value));
    if ("size" in argument) return allocate(Number(core[argument.size](...argument.arguments.map(value))));
    if (!arrays.has(argument.id)) {
      const data = Buffer.from(argument.array, "base64");
      const address = allocate(data.length);
      new Uint8Array(core.memory.buffer, address, data.length).set(data);
      arrays.set(argument.id, [address, data.length]);
    }
    return arrays.get(argument.id)[0];
  };
  const values = call.arguments.map(value);
  let status = RUNNING;
  while (status === RUNNING) status = core[call.function](...values);
  const modified = call.modified.map((id) => {
    const [address, bytes] = arrays.get(id);
    return Buffer.from(core.memory.buffer, address, bytes).toString("base64");
  });
  return { status: status ?? 0, arrays: modified };
}

const calls = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(calls.map(run)));
