import { expect, it } from 'vitest';
import type { TrafficStackSpec, WorkloadComponent } from '../../../api/trafficstack/trafficStack.ts';
import { component, stackOf } from '../testing/stacks.ts';
import { renderStack } from './stack.ts';

const DB = component('db', { workload: { ...component('db').workload, services: [{ ports: [{ port: 1 }] }] } });
const COUNTED = { ...DB.workload, replicas: undefined };
const config = [{ name: 'etc', mountPath: '/etc', files: { log: '${common.logLevel}' } }];
const WEB = component('web', { dependsOn: ['db'] });
const WITH_FILES = { ...WEB, workload: { ...WEB.workload, config } };
const HIGH = { nodeSelector: { role: 'master' } };

function revisionOf(
  web: WorkloadComponent,
  over: Partial<TrafficStackSpec> = {},
  { db = DB, nodes = 3 } = {},
): string | undefined {
  const result = renderStack(stackOf([]), { ...over }, [db, web], { countNodes: () => nodes, builtIns: [] });
  if ('problems' in result) throw new Error(result.problems.join());
  return result.components[1]?.revision;
}
const image = (spec: WorkloadComponent): WorkloadComponent => {
  const podTemplate = { spec: { containers: [{ name: 'web', image: 'web:9' }] } };
  return { ...spec, workload: { ...spec.workload, podTemplate } };
};

it.each<[string, string | undefined, boolean]>([
  ['its pods', revisionOf(image(WEB)), true],
  ['its deadline', revisionOf({ ...WEB, deadline: '1m' }), true],
  ['its deadline to the default', revisionOf({ ...WEB, deadline: '10m' }), false],
  ['its condition', revisionOf({ ...WEB, ready: { expression: 'true' } }), true],
  ['what its pods have of the stack', revisionOf(WEB, { common: { priorityClassName: 'x' } }), true],
  ['what it depends on', revisionOf({ ...WEB, dependsOn: [] }), false],
  ['the log level, without files', revisionOf(WEB, { common: { logLevel: 'debug' } }), false],
  ['a dependency, without files', revisionOf(WEB, {}, { db: image(DB) }), false],
])('changes, or does not, with %s', (_what, revision, isOther) => {
  expect(revision !== revisionOf(WEB)).toBe(isOther);
});

it('changes with what its files are made of', () => {
  const before = revisionOf(WITH_FILES);
  const more = { ...DB, workload: { ...DB.workload, services: [{ ports: [{ port: 2 }] }] } };
  expect(revisionOf(WITH_FILES, {}, { db: more })).not.toBe(before);
  expect(revisionOf(WITH_FILES, {}, { db: image(DB) })).toBe(before);
  expect(revisionOf(WITH_FILES, { common: { logLevel: 'debug' } })).not.toBe(before);
});

it('does not change with the number of nodes, which changes its objects and its files', () => {
  const db = { ...DB, workload: COUNTED };
  const workload = { ...WITH_FILES.workload, replicas: undefined };
  const at = (nodes: number) => revisionOf({ ...WITH_FILES, workload }, { highAvailability: HIGH }, { db, nodes });
  expect(at(3)).toBe(at(4));
  expect(at(3)).not.toBe(revisionOf({ ...WITH_FILES, workload }, { highAvailability: { replicas: 3 } }, { db }));
});

it('is also rendered as the release before computed it', () => {
  const workload = { ...WITH_FILES.workload, replicas: undefined };
  const stack = { common: { logLevel: 'debug' as const }, highAvailability: HIGH };
  const web = { ...WITH_FILES, workload };
  const result = renderStack(stackOf([]), stack, [DB, web], { countNodes: () => 3, builtIns: [] });
  const former = 'components' in result ? result.components.map((each) => each.former?.revision) : [];
  expect(former).toEqual(['a1e8a74e130f58fb', 'd9ef5d836c2127dc']);
});
