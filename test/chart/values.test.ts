import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { helmPath, manifestsIn, type Manifest } from '../../scripts/chart/helm.ts';
import { valuePaths } from '../../scripts/chart/render.ts';
import { chartValues } from '../../scripts/chart/values.ts';
import { CHART } from './cluster.ts';
import { EFFECTS } from './valueEffects.ts';

/** Values by their paths, as helm reads them. */
function nested(values: Readonly<Record<string, unknown>>): object {
  const root: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const keys = path.split('.');
    const last = keys.pop()!;
    const parent = keys.reduce((at, key) => (at[key] ??= {}) as Record<string, unknown>, root);
    parent[last] = value;
  }
  return root;
}

const rendered = new Map<string, readonly Manifest[]>();

/** Renders the values by helm. Throws with the message of helm if it refuses them. */
function render(values: Readonly<Record<string, unknown>>): readonly Manifest[] {
  const input = stringify(nested(values));
  const known = rendered.get(input);
  if (known) return known;
  const args = ['template', 'traffic-operator', CHART, '-n', 'traffic-operator-system', '--values=-'];
  const text = execFileSync(helmPath(), args, { input, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 26 });
  const objects = manifestsIn(text);
  rendered.set(input, objects);
  return objects;
}

describe('each value', () => {
  it('has a test here', () => {
    expect(EFFECTS.map((effect) => effect.of).sort()).toEqual(valuePaths(chartValues).sort());
  });

  it.each(EFFECTS)('changes what it says: $of', ({ of, to, also = {}, see, is }) => {
    expect(see(render({ ...also, [of]: to }))).toEqual(is);
    // If it cannot be rendered without the value, that also is a difference.
    if (of === 'metrics.certSecret') expect(() => render(also)).toThrow(of);
    else expect(see(render(also))).not.toEqual(is);
  });
});
