import type { Plugin } from 'esbuild';

/**
 * Modules of Node.js with exports that load other modules when they are first read. An `import` of such a module reads all
 * of its exports, whichever are used; `require` reads none. Resident memory of a process that does nothing else, with
 * Node.js 24.21: 58 MiB after `import 'node:http'`, which loads undici for its export WebSocket, and 46 MiB after
 * `require('node:http')`; 44 and 41 MiB for node:util. node:crypto loads the Web Crypto API,
 * node:fs loads node:fs/promises.
 */
const LAZY = /^(?:node:)?(http|util|crypto|fs)$/;
const NAMESPACE = 'lazy-builtin';

/** Turns imports of LAZY modules into `process.getBuiltinModule`, whose exports are read where they are used. */
export const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: LAZY }, ({ path }) => ({ path: LAZY.exec(path)?.[1] ?? '', namespace: NAMESPACE }));
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
      loader: 'js',
    }));
  },
};
