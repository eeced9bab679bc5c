import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'esbuild';

const DASHBOARDS = /charts[/\\]traffic-operator[/\\]dashboards[/\\].*\.json$/;

/** Compresses the dashboards, which are JSON of 240 KB. */
export const packedDashboards: Plugin = {
  name: 'packed-dashboards',
  setup(build) {
    build.onLoad({ filter: DASHBOARDS }, ({ path }) => {
      const minified = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')));
      const packed = brotliCompressSync(minified).toString('base64');
      const contents = [
        "import { brotliDecompressSync } from 'node:zlib';",
        `export default JSON.parse(brotliDecompressSync(Buffer.from('${packed}', 'base64')).toString());`,
      ];
      return { contents: contents.join('\n'), loader: 'js' };
    });
  },
};
