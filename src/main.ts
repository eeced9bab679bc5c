// Must come first: an older Node.js cannot parse the other modules.
import './requireNode.ts';

const { main } = await import('./program.ts');

process.exit(await main());
