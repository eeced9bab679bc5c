import { readFileSync } from 'node:fs';
import { transformSync, type Plugin } from 'esbuild';

/** Packages of which nobody reads a stack trace here. */
const PACKAGES =
  /node_modules[/\\](?:@kubernetes|@marcbachmann|@aws-sdk|@opentelemetry|@smithy|axios|ip-address|jsonpath-plus|oauth4webapi|openid-client|pino|prom-client|re2js|rxjs|socks|undici)[/\\].*\.c?js$/;

/** MIME types by file name, 137 KB: axios needs them for uploads of files, which this program never sends. */
const MIME_TYPES = /node_modules[/\\]mime-db[/\\]db\.json$/;

/**
 * Shortens the names within these packages, too, 430 KB of 5 MB. Escapes what is not ASCII: esbuild does not in regular
 * expressions, and an escape means the same in an expression, a string and a name.
 */
export const smallPackages: Plugin = {
  name: 'small-packages',
  setup(build) {
    build.onLoad({ filter: MIME_TYPES }, () => ({ contents: '{}', loader: 'json' }));
    build.onLoad({ filter: PACKAGES }, ({ path }) => {
      const contents = readFileSync(path, 'utf8').replace(/[^\x00-\x7f]/g, escaped);
      return { contents: transformSync(contents, { minify: true, target: 'node24' }).code, loader: 'js' };
    });
  },
};

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
