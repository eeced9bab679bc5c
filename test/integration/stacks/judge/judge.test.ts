import { describe, expect, it } from 'vitest';
import { DB, of, STACK, stack, violations, WEB, workload, type Entry, type StackOptions } from './entries.ts';
import { GATE_OPENED } from './upgrade.ts';

/** Histories in which one thing is wrong: the judge names it. */
const FILES = '/registry/configmaps/default/web-etc';

/** A pod with the files of this name. */
function pod(name: string, image: string, files?: string): Entry {
  const volumes = files === undefined ? [] : [{ configMap: { name: files } }];
  const { metadata } = of(name, `pod-${name}`);
  const own = { ...metadata, ownerReferences: [{ uid: 'set' }] };
  return [`/registry/pods/default/${name}-0`, { metadata: own, spec: { containers: [{ image }], volumes } }];
}

const files = (image: string): Entry => [
  FILES,
  { metadata: { ...of('web', 'files').metadata, name: 'web-etc' }, data: { image } },
];
const gone = ([key]: Entry): Entry => [key, undefined];
const UP: Entry[] = [stack(), workload(DB, 'db:1'), workload(WEB, 'web:1')];
const WEB_READY = { name: 'web', state: 'Ready' as const, version: 'web:1' };

describe('the order', () => {
  it.each<[string, Entry[], string[]]>([
    ['is kept', UP, []],
    [
      'a workload before its dependency is there',
      [stack(), workload(WEB, 'web:1')],
      ['web with web:1 was applied: before db was ready'],
    ],
    [
      'a workload before its dependency is available',
      [stack(), workload(DB, 'db:1', { available: 1 }), workload(WEB, 'web:1')],
      ['web with web:1 was applied: before db was ready'],
    ],
    [
      'a change before the change of its dependency',
      [...UP, stack({ status: [WEB_READY] }), stack({ db: 'db:2', web: 'web:2' }), workload(WEB, 'web:2')],
      ['web with web:2 was applied: before db was ready'],
    ],
    ['a version of no spec', [...UP, workload(WEB, 'web:9')], ['web with web:9 was applied: no spec has its image']],
    [
      'a removal before what depends on it',
      [...UP, pod('web', 'web:1'), gone(workload(WEB, '')), gone(workload(DB, ''))],
      ['db was removed before /registry/pods/default/web-0'],
    ],
  ])('%s', (_, entries, wanted) => {
    const isOfOrder = (sentence: string): boolean => !sentence.includes('files');
    expect(violations(...entries).filter(isOfOrder)).toEqual(wanted);
  });
});

describe('a closed gate', () => {
  const spec = { upgrade: { query: 'up' } };
  const held: Entry[] = [
    stack({ spec }),
    files('web:1'),
    workload(DB, 'db:1'),
    workload(WEB, 'web:1'),
    stack({ spec, db: 'db:2' }),
  ];
  const opened = stack({ spec, db: 'db:2', annotations: { [GATE_OPENED]: 'yes' } });

  it.each<[string, Entry[], string[]]>([
    ['does not hold what is new', held, []],
    ['a change', [workload(DB, 'db:2')], [`${DB} was changed while the gate was closed`]],
    [
      'another number of pods',
      [workload(DB, 'db:1', { replicas: 3, available: 3 })],
      [`${DB} was changed while the gate was closed`],
    ],
    ['a status', [workload(DB, 'db:1', { available: 0 })], []],
    ['a removal', [gone(files(''))], [`${FILES} was removed while the gate was closed`]],
    ['more files', [[`${FILES}-2`, files('web:2')[1]]], [`${FILES}-2 was added while the gate was closed`]],
    ['that was opened', [opened, workload(DB, 'db:2')], []],
    ['of a stack that is being deleted', [stack({ spec, isEnding: true }), gone(workload(WEB, ''))], []],
  ])('%s', (_, entries, wanted) => {
    expect(violations(...held, ...entries)).toEqual(wanted);
  });
});

describe('a rollback', () => {
  const ready = (version: string) => ({ name: 'db', state: 'Ready' as const, version });
  const failed = {
    name: 'db',
    state: 'Failed' as const,
    rolledBackFrom: { revision: 'r', version: 'db:bad', message: '' },
  };
  const bad: Entry[] = [
    ...UP,
    stack({ status: [ready('db:1'), WEB_READY] }),
    stack({ db: 'db:bad', web: 'web:2', status: [] }),
    workload(DB, 'db:bad', { available: 1 }),
  ];
  const told = stack({ db: 'db:bad', web: 'web:2', status: [failed] });

  it.each<[string, Entry[], string[]]>([
    ['to the last ready revision', [told, workload(DB, 'db:1')], []],
    [
      'that no status tells',
      [workload(DB, 'db:1'), workload(DB, 'db:0')],
      ['db with db:0 was applied: no spec has its image'],
    ],
    [
      'to an older one',
      [told, workload(DB, 'db:0')],
      ['db was restored to db:0, which is not its last ready revision'],
    ],
    [
      'to other files',
      [told, workload(DB, 'db:1', { files: 'f' })],
      ['db was restored to db:1, which is not its last ready revision'],
    ],
    [
      'with an upgrade of what depends on it',
      [told, workload(DB, 'db:1'), workload(WEB, 'web:2')],
      ['web with web:2 was applied: before db was ready'],
    ],
  ])('%s', (_, entries, wanted) => {
    expect(violations(...bad, ...entries)).toEqual(wanted);
  });

  it('of what was said to be ready before it was', () => {
    const early = violations(stack(), workload(DB, 'db:1', { available: 1 }), stack({ status: [ready('db:1')] }));
    expect(early).toEqual(['db was said to be Ready with db:1 before that was available']);
    const entries = [
      stack({ db: 'db:2', status: [failed] }),
      workload(DB, 'db:bad'),
      workload(DB, 'db:1', { available: 1 }),
    ];
    expect(
      violations(stack(), workload(DB, 'db:1', { available: 1 }), stack({ status: [ready('db:1')] }), ...entries),
    ).toContain('db was restored to db:1, which was never available');
  });
});

describe('files', () => {
  const begun: Entry[] = [...UP, files('web:1'), pod('web', 'web:1', 'web-etc')];

  it.each<[string, Entry[], string[]]>([
    ['of the image', begun, []],
    [
      'of another image',
      [...UP, files('web:2'), pod('web', 'web:1', 'web-etc')],
      ['/registry/pods/default/web-0 began with other files than the files of web:1'],
    ],
    [
      'that are not there',
      [...UP, pod('web', 'web:1', 'web-etc')],
      ['/registry/pods/default/web-0 began with other files than the files of web:1'],
    ],
    [
      'that are not mounted',
      [...UP, pod('web', 'web:1')],
      ['/registry/pods/default/web-0 began with other files than the files of web:1'],
    ],
    [
      'of a component that has none',
      [...UP, pod('db', 'db:1', 'web-etc')],
      ['/registry/pods/default/db-0 began with other files than the files of db:1'],
    ],
    ['that are changed', [...begun, files('web:2')], [`${FILES} was changed`]],
    [
      'that are removed under a pod',
      [...begun, gone(files(''))],
      [`${FILES} was removed under /registry/pods/default/web-0`],
    ],
    ['that are removed with the stack', [...begun, stack({ isEnding: true }), gone(files(''))], []],
  ])('%s', (_, entries, wanted) => {
    expect(violations(...entries)).toEqual(wanted);
  });
});

describe('high availability', () => {
  const spec = { highAvailability: {} };
  const budget: Entry = ['/registry/poddisruptionbudgets/default/db', of('db', 'budget')];

  it.each<[string, Entry[], string[]]>([
    ['with a budget', [budget, workload(DB, 'db:1')], []],
    ['without a budget', [workload(DB, 'db:1')], ['db was made without a budget']],
    [
      'with another number of pods',
      [budget, workload(DB, 'db:1', { replicas: 1, available: 1 })],
      ['db has 1 pods instead of 2'],
    ],
  ])('%s', (_, entries, wanted) => {
    expect(violations(stack({ spec }), ...entries)).toEqual(wanted);
  });
});

describe('what is left', () => {
  const CLAIM = '/registry/persistentvolumeclaims/default/data-db-0';
  const claim: Entry = [CLAIM, { metadata: { ...of('db', 'claim').metadata, ownerReferences: [] } }];

  it.each<[string, Entry[], string[]]>([
    ['nothing', [gone(stack())], []],
    ['an object', [workload(DB, 'db:1'), gone(stack())], [`${STACK} was gone before ${DB}`]],
    ['a pod', [pod('db', 'db:1'), gone(stack())], [`${STACK} was gone before /registry/pods/default/db-0`]],
    ['a claim that is retained', [claim, gone(stack())], []],
  ])('%s', (_, entries, wanted) => {
    expect(violations(stack(), ...entries)).toEqual(wanted);
  });

  it.each<[string, StackOptions, string[]]>([
    ['which is retained', {}, [`${CLAIM} was removed, with the policy Retain`]],
    ['which is deleted', { claimPolicy: 'Delete' }, []],
  ])('a claim %s, and is removed', (_, options, wanted) => {
    expect(violations(stack(options), claim, gone(claim))).toEqual(wanted);
  });
});
