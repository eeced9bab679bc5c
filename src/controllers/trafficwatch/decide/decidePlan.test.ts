import type { V1Deployment } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import {
  aClaim,
  aDeployment,
  anObservation,
  aWatch,
  changed,
  failedPass,
  KEY,
  NOW,
  pass,
} from '../testing/observations.ts';
import { renderDeployment } from './deployment.ts';
import { decidePlan } from './decidePlan.ts';

const OLD = 'old.traffic.example.com/unfit';
const changes = (o: Parameters<typeof decidePlan>[0]) => Object.fromEntries(decidePlan(o).labels);

describe('labels', () => {
  it('are written where two passes agree, and the finalizer comes first', () => {
    const plan = decidePlan(anObservation({ passes: [pass(2, { n1: 50, n2: 2 }), pass(1, { n1: 60, n2: 2 })] }));
    expect(plan.finalizer).toBe('Add');
    expect(Object.fromEntries(plan.labels)).toEqual({ n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } });
  });

  it('are not written again if they match the verdict', () => {
    const nodes = { n1: { [KEY]: 'false' }, n2: { [KEY]: 'false' } };
    expect(changes(anObservation({ nodes }))).toEqual({});
  });

  it('are unchanged while Prometheus is down', () => {
    const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } };
    const plan = decidePlan(anObservation({ nodes, newest: failedPass(2) }));
    expect(plan.labels.size).toBe(0);
    expect(plan.verdicts.map((v) => v.verdict)).toEqual(['Unknown', 'Unknown']);
  });

  it('are decided separately for a node that joins later', () => {
    const o = anObservation({
      nodes: { n1: { [KEY]: 'false' }, n3: {} },
      passes: [pass(2, { n1: 1, n3: 1 }), pass(1, { n1: 1 })],
    });
    const plan = decidePlan(changed(o, { watch: aWatch({ status: { ready: true, labelKey: KEY } }) }));
    expect(plan.labels.size).toBe(0);
    expect(plan.decided).toBe(true);
    expect(plan.verdicts[1]).toMatchObject({ verdict: 'Unknown', reason: 'FirstPass' });
  });

  it('are corrected after somebody edits them', () => {
    const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'perhaps' } };
    expect(changes(anObservation({ nodes }))).toEqual({ n1: { [KEY]: 'false' }, n2: { [KEY]: 'false' } });
  });
});

describe('the Deployment', () => {
  it('is created after two passes with data', () => {
    expect(decidePlan(anObservation()).deployment?.kind).toBe('Apply');
    expect(decidePlan(anObservation({ passes: [pass(1, { n1: 1, n2: 2 })] })).deployment?.kind).toBe('Apply'); // 60 s are long over
  });

  it('waits for data, but not longer than 60 s since creation', () => {
    const watch = aWatch({ metadata: { creationTimestamp: new Date(NOW - 20_000) } });
    const plan = decidePlan(anObservation({ watch, newest: failedPass(2) }));
    expect(plan.deployment?.kind).toBe('Wait');
    expect(plan.requeueAfterMs).toBe(40_000);
    const late = decidePlan(anObservation({ watch, newest: failedPass(2), now: NOW + 40_000 }));
    expect(late.deployment?.kind).toBe('Apply');
  });

  it('waits 60 s from the start of the feed if the operator was down before', () => {
    expect(
      decidePlan(anObservation({ passes: [pass(1, { n1: 1, n2: 2 })], feedStartedAt: NOW - 10_000 })).deployment?.kind,
    ).toBe('Wait');
  });

  it('is updated without waiting when the spec is edited later', () => {
    const watch = aWatch({ metadata: { creationTimestamp: new Date(NOW) } });
    const plan = decidePlan(anObservation({ watch, deployment: aDeployment(watch), passes: [] }));
    expect(plan.deployment?.kind).toBe('Apply');
  });

  it('is not touched if it has another owner, and neither is anything else', () => {
    const deployment = aDeployment(aWatch({ metadata: { uid: 'uid-before', name: 'web' } }));
    const plan = decidePlan(anObservation({ deployment }));
    expect(plan).toMatchObject({ finalizer: 'Keep', stall: { reason: 'DeploymentNotOwned' } });
    expect(plan.stall?.message).toContain('shop/web');
    expect(plan.labels.size).toBe(0);
  });

  it('is not recreated for a changed selector; labels are still written', () => {
    const watch = aWatch({ deployment: { selector: { matchLabels: { app: 'other' } } } });
    const plan = decidePlan(anObservation({ watch, deployment: aDeployment(aWatch()) }));
    expect(plan).toMatchObject({ stall: { reason: 'SelectorChanged' }, deployment: { kind: 'SelectorChanged' } });
    expect(plan.labels.size).toBe(2);
  });
});

describe('a label key', () => {
  const older = new Map([[KEY, [aClaim()]]]);

  it('belongs to the older TrafficWatch; the younger one writes nothing and names the owner', () => {
    const plan = decidePlan(anObservation({ claims: older }));
    expect(plan).toMatchObject({ finalizer: 'Keep', deployment: undefined, stall: { reason: 'LabelKeyTaken' } });
    expect(plan.stall?.message).toContain('shop/other');
    expect(plan.labels.size).toBe(0);
  });

  it('belongs to this TrafficWatch if the other is younger, or equally old with a greater UID', () => {
    const younger = aClaim({ creationTimestamp: '2026-01-01T00:05:00.000Z' });
    const sameAge = aClaim({ creationTimestamp: '2026-01-01T00:00:00.000Z', uid: 'uid-zzz' });
    for (const claim of [younger, sameAge]) {
      expect(decidePlan(anObservation({ claims: new Map([[KEY, [claim]]]) })).stall).toBeUndefined();
    }
  });

  it('does not matter beyond the limits: nothing is read of the spec, and nothing is written', () => {
    const limitProblem = { reason: 'TooManyReadings', message: 'this TrafficWatch needs 30 readings' } as const;
    const plan = decidePlan(anObservation({ watch: aWatch({ label: 'Not_A_Label' }), limitProblem }));
    expect(plan).toMatchObject({
      finalizer: 'Keep',
      stall: limitProblem,
    });
  });

  it('is named if it is invalid, and nothing is written', () => {
    const plan = decidePlan(anObservation({ watch: aWatch({ label: 'Not_A_Label' }) }));
    expect(plan).toMatchObject({ finalizer: 'Keep', stall: { reason: 'InvalidSpec' } });
    expect(plan.stall?.message).toMatch(/spec\.label.*Not_A_Label/);
  });
});

describe('a TrafficWatch that writes nothing', () => {
  const frozen = /until that is resolved, the labels old\.traffic\.example\.com\/unfit are unchanged/;
  const status = { ready: true, labelKey: OLD };
  const foreign = aDeployment(aWatch({ metadata: { uid: 'uid-before', name: 'web' } }));
  const edited = {
    'to the key of an older TrafficWatch': anObservation({
      watch: aWatch({ status }),
      claims: new Map([[KEY, [aClaim()]]]),
    }),
    'to an invalid spec': anObservation({ watch: aWatch({ status, label: 'Not_A_Label' }) }),
    'and its Deployment now has another owner': anObservation({ watch: aWatch({ status }), deployment: foreign }),
  };

  it.each(Object.entries(edited))('says that the labels in use are unchanged: edited %s', (_how, o) => {
    const plan = decidePlan(o);
    expect(plan.labels.size).toBe(0);
    expect(plan.stall?.message).toMatch(frozen);
  });

  it('does not mention labels if none were written, or if another TrafficWatch owns them', () => {
    const fresh = anObservation({ claims: new Map([[KEY, [aClaim()]]]) });
    const lost = anObservation({ watch: aWatch({ status: { ready: true, labelKey: KEY } }), claims: fresh.claims });
    for (const o of [fresh, lost]) expect(decidePlan(o).stall?.message).not.toMatch(/are unchanged/);
  });
});

describe('renaming the label', () => {
  const watch = aWatch({ status: { ready: true, labelKey: OLD } });
  const old = { n1: { [OLD]: 'true' }, n2: { [OLD]: 'false' } };
  const both = { n1: { [OLD]: 'true', [KEY]: 'true' }, n2: { [OLD]: 'false', [KEY]: 'false' } };
  const busy = { passes: [pass(2, { n1: 50, n2: 2 }), pass(1, { n1: 60, n2: 2 })] };

  it('writes the new key first and keeps the old one', () => {
    const o = anObservation({ watch, nodes: old, deployment: aDeployment(watch, OLD), ...busy });
    expect(changes(o)).toEqual({ n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } });
    expect(decidePlan(o)).toMatchObject({ labelKey: OLD, renaming: true });
  });

  it('copies the old label to the new key if nothing can be measured', () => {
    const o = anObservation({ watch, nodes: old, deployment: aDeployment(watch, OLD), newest: failedPass(2) });
    expect(changes(o)).toEqual({ n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } });
  });

  it('keeps the old key until the Deployment has the new one', () => {
    expect(changes(anObservation({ watch, nodes: both, deployment: aDeployment(watch, OLD), ...busy }))).toEqual({});
  });

  it('keeps the old key up to date while the Deployment schedules by it', () => {
    const turned = { passes: [pass(4, { n1: 1, n2: 90 }), pass(3, { n1: 1, n2: 90 })] };
    const selector = { selector: { matchLabels: { app: 'other' } } };
    const stuck = aWatch({ status: { ready: true, labelKey: OLD }, deployment: selector });
    for (const renamed of [watch, stuck]) {
      const o = anObservation({ watch: renamed, nodes: both, deployment: aDeployment(watch, OLD), ...turned });
      expect(changes(o)).toEqual({ n1: { [KEY]: 'false', [OLD]: 'false' }, n2: { [KEY]: 'true', [OLD]: 'true' } });
      expect(decidePlan(o).labelKey).toBe(OLD);
    }
  });

  it('also labels a node that joined meanwhile under both keys', () => {
    const nodes = { n1: { [OLD]: 'true', [KEY]: 'true' }, n2: {} };
    const o = anObservation({ watch, nodes, deployment: aDeployment(watch, OLD), ...busy });
    expect(changes(o)).toEqual({ n2: { [KEY]: 'false', [OLD]: 'false' } });
  });

  it('does not touch the old key if an older TrafficWatch owns it, even if the Deployment schedules by it', () => {
    const claims = new Map([[OLD, [aClaim()]]]);
    const nodes = { n1: { [OLD]: 'false' }, n2: { [OLD]: 'true' } };
    const o = anObservation({ watch, claims, nodes, deployment: aDeployment(watch, OLD), ...busy });
    expect(changes(o)).toEqual({ n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } });
  });

  it('then removes the old key, and ends when no node has it', () => {
    const deployment = aDeployment(watch, KEY);
    const o = anObservation({ watch, nodes: both, deployment, ...busy });
    expect(changes(o)).toEqual({ n1: { [OLD]: null }, n2: { [OLD]: null } });
    expect(decidePlan(o).labelKey).toBe(OLD);
    const done = anObservation({
      watch,
      nodes: { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } },
      deployment,
      ...busy,
    });
    expect(decidePlan(done).labelKey).toBe(KEY);
  });

  it('checks the preferred term if the placement is Preferred, also while the placement changes', () => {
    const preferred = aWatch({ placement: 'Preferred', status: { ready: true, labelKey: OLD } });
    const released = { n1: { [OLD]: null }, n2: { [OLD]: null } };
    const by = (deployment: V1Deployment) =>
      changes(anObservation({ watch: preferred, nodes: both, deployment, ...busy }));
    expect(by(aDeployment(preferred, OLD))).toEqual({});
    expect(by(aDeployment(watch, KEY))).toEqual({});
    expect(by({ ...aDeployment(watch), spec: renderDeployment(preferred, OLD).spec })).toEqual({});
    expect(by({ ...aDeployment(watch), spec: renderDeployment(preferred, KEY).spec })).toEqual(released);
  });

  it('leaves the old labels to another TrafficWatch that waits for the key', () => {
    const claims = new Map([[OLD, [aClaim({ creationTimestamp: '2026-01-01T00:05:00.000Z' })]]]);
    const o = anObservation({ watch, claims, nodes: both, deployment: aDeployment(watch, KEY), ...busy });
    expect(changes(o)).toEqual({});
    expect(decidePlan(o).labelKey).toBe(KEY);
  });
});

describe('deletion', () => {
  const gone = {
    deletionTimestamp: new Date(NOW),
    name: 'web',
    namespace: 'shop',
    uid: 'uid-web',
    finalizers: ['traffic.example.com/node-labels'],
  };

  it('removes exactly its own labels', () => {
    const nodes = { n1: { [KEY]: 'true', [OLD]: 'true' }, n2: {} };
    const plan = decidePlan(anObservation({ watch: aWatch({ metadata: gone }), nodes }));
    expect(plan).toMatchObject({ finalizer: 'Remove', deployment: undefined });
    expect(Object.fromEntries(plan.labels)).toEqual({ n1: { [KEY]: null } });
  });

  it('keeps labels of the key if the TrafficWatch never had our finalizer: they are not ours', () => {
    const watch = aWatch({ metadata: { ...gone, finalizers: ['example.com/backup'] } });
    expect(changes(anObservation({ watch, nodes: { n1: { [KEY]: 'true' } } }))).toEqual({});
  });

  it('removes both keys in the middle of a rename', () => {
    const watch = aWatch({ metadata: gone, status: { labelKey: OLD } });
    expect(changes(anObservation({ watch, nodes: { n1: { [KEY]: 'true', [OLD]: 'true' } } }))).toEqual({
      n1: { [KEY]: null, [OLD]: null },
    });
  });

  it('leaves the labels to a TrafficWatch that waits for the key', () => {
    const claims = new Map([[KEY, [aClaim({ creationTimestamp: '2026-01-01T00:05:00.000Z' })]]]);
    expect(
      changes(anObservation({ watch: aWatch({ metadata: gone }), claims, nodes: { n1: { [KEY]: 'true' } } })),
    ).toEqual({});
  });

  it('touches no label if the TrafficWatch never owned the key', () => {
    const claims = new Map([[KEY, [aClaim({ bySpec: false })]]]);
    expect(
      changes(anObservation({ watch: aWatch({ metadata: gone }), claims, nodes: { n1: { [KEY]: 'true' } } })),
    ).toEqual({});
  });
});
