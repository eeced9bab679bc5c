import { readFileSync } from 'node:fs';
import { transformSync, type Plugin } from 'esbuild';

/** Packages of which nobody reads a stack trace here. */
const PACKAGES =
  /node_modules[/\\](?:@kubernetes|@marcbachmann|@aws-sdk|@opentelemetry|@smithy|axios|ip-address|jsonpath-plus|oauth4webapi|openid-client|pino|prom-client|re2js|rxjs|socks|undici)[/\\].*\.c?js$/;

/**
 * Modules that nothing here calls, and what they are replaced by: MIME types by file name, 137 KB, which axios needs for uploads of files; mocks
 * of undici, 41 KB; and its second parser of HTTP, 156 KB, which only UNDICI_USE_MILO=1 loads.
 */
const UNUSED: readonly (readonly [path: RegExp, contents: string])[] = [
  [/node_modules[/\\]mime-db[/\\]db\.json$/, 'module.exports = {};'],
  [/node_modules[/\\]undici[/\\]lib[/\\]mock[/\\]/, 'module.exports = {};'],
  [
    /node_modules[/\\]undici[/\\]lib[/\\]milo[/\\]/,
    "throw new Error('This program has no Milo: unset UNDICI_USE_MILO');",
  ],
];

/**
 * Leaves out what is UNUSED, and shortens the names within PACKAGES, too, 430 KB of 5 MB. Escapes what is not ASCII: esbuild does not in regular
 * expressions, and an escape means the same in an expression, a string and a name.
 */
export const smallPackages: Plugin = {
  name: 'small-packages',
  setup(build) {
    for (const [filter, contents] of UNUSED) build.onLoad({ filter }, () => ({ contents, loader: 'js' }));
    build.onLoad({ filter: PACKAGES }, ({ path }) => {
      const contents = readFileSync(path, 'utf8').replace(/[^\x00-\x7f]/g, escaped);
      return { contents: transformSync(contents, { minify: true, target: 'node24' }).code, loader: 'js' };
    });
  },
};

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
