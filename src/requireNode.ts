/**
 * Ends the process on a Node.js that is too old. Import it before all else: modules are run in the order of the
 * imports, and others fail on an old Node.js with an error that says nothing of it.
 */
import { nodeVersionProblem } from './nodeVersion.ts';

const problem = nodeVersionProblem(process.version);
if (problem !== undefined) {
  process.stderr.write(`traffic-operator: ${problem}\n`);
  process.exit(1);
}
