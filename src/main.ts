// Before all else: an older Node.js could not even read the rest.
import './requireNode.ts';

const { main } = await import('./program.ts');

process.exit(await main());
