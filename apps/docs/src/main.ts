/** `npm run docs`: writes docs/api. Fails when something in it is wrong. */
import { join } from 'node:path';
import { root } from './packages.ts';
import { writeReference } from './reference.ts';

const out = join(root, 'docs', 'api');
const { modules, problems } = await writeReference(out);
console.log(`docs/api: ${modules.length} modules, ${problems} problems`);
process.exitCode = problems ? 1 : 0;
