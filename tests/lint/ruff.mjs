// ruff check as WebAssembly: ruff.mjs MODULES SETTINGS FILE... prints what ruff has to say; exit code 1 if that is anything.
// MODULES is the folder below which npm installed @astral-sh/ruff-wasm-nodejs, SETTINGS the table tool.ruff as JSON.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [modules, settings, ...files] = process.argv.slice(2);
const { Workspace, PositionEncoding } = createRequire(`${modules}/`)('@astral-sh/ruff-wasm-nodejs');
const workspace = new Workspace(JSON.parse(settings), PositionEncoding.Utf32);
let found = 0;
for (const file of files) {
  for (const { code, message, start_location: at } of workspace.check(readFileSync(file, 'utf8'))) {
    console.log(`${file}:${at.row}:${at.column}: ${code ?? 'syntax'} ${message}`);
    ++found;
  }
}
process.exit(found > 0 ? 1 : 0);
