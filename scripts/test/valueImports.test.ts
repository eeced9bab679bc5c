import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { valueImports } from './valueImports.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'imports-'));
});
afterEach(() => rmSync(root, { recursive: true }));

it('has the files whose values are imported, at any distance, and not the imports of types', () => {
  const files = {
    'a/test.ts': "import { it } from 'vitest';\nimport './effect.ts';\nimport {\n  b,\n  type B,\n} from '../b.ts';\n",
    'a/effect.ts':
      "import type { T } from './types.ts';\nexport type { U } from './types.ts';\nimport type V from './types.ts';\n",
    'b.ts':
      "export * from './c.ts';\nexport { d } from './c/d.ts';\nimport * as data from './data.json' with { type: 'json' };\n",
    'c.ts': "import { b } from './b.ts';\n",
    'c/d.ts': "// import { e } from './e.ts';\n",
    'c/e.ts': '',
    'a/types.ts': '',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  expect([...valueImports(root, 'a/test.ts')].sort()).toEqual(['a/effect.ts', 'a/test.ts', 'b.ts', 'c.ts', 'c/d.ts']);
});
