import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { claim, hasField, heldBy, managersOf, release, takeOver } from './managedFields.ts';

const OWNER = { manager: 'ours', apiVersion: 'apps/v1' };
const entry = (manager: string, operation: string, fieldsV1: object, subresource?: string): V1ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...(subresource === undefined ? {} : { subresource }),
});
const spec = (fields: object) => ({ 'f:spec': fields });
const isOld = (e: V1ManagedFieldsEntry): boolean => e.manager === 'old';

describe('takeOver', () => {
  const other = entry('kubectl-edit', 'Update', spec({ 'f:paused': {} }));

  it('moves the chosen fields to the applied fields of the owner', () => {
    expect(takeOver([entry('old', 'Update', spec({ 'f:replicas': {} })), other], OWNER, isOld)).toEqual([
      other,
      entry('ours', 'Apply', spec({ 'f:replicas': {} })),
    ]);
  });

  it('joins them with the existing applied fields', () => {
    const ours = entry('ours', 'Apply', spec({ 'f:replicas': {}, 'f:strategy': {}, 'f:template': { 'f:spec': {} } }));
    const old = entry('old', 'Update', spec({ 'f:strategy': { 'f:type': {} }, 'f:template': { 'f:metadata': {} } }));
    expect(takeOver([ours, old], OWNER, isOld)).toEqual([
      entry(
        'ours',
        'Apply',
        spec({
          'f:replicas': {},
          'f:strategy': { '.': {}, 'f:type': {} },
          'f:template': { 'f:spec': {}, 'f:metadata': {} },
        }),
      ),
    ]);
  });

  it('changes nothing if no entry is chosen, and is idempotent', () => {
    const once = takeOver([entry('old', 'Update', spec({ 'f:replicas': {} })), other], OWNER, isOld);
    expect(takeOver(once, OWNER, isOld)).toBe(once);
  });
});

describe('claim', () => {
  it('removes the field from all other owners, without marking its parent as owned', () => {
    const fields = [
      entry('ours', 'Apply', spec({ 'f:replicas': {} })),
      entry('a', 'Update', spec({ 'f:strategy': { 'f:rollingUpdate': { 'f:maxSurge': {} } }, 'f:paused': {} })),
      entry('b', 'Apply', spec({ 'f:strategy': { 'f:rollingUpdate': {}, 'f:type': {} } })),
    ];
    const parts = { '.': {}, 'f:maxSurge': {} };
    expect(claim(fields, OWNER, ['f:spec', 'f:strategy', 'f:rollingUpdate'], parts)).toEqual([
      entry('ours', 'Apply', spec({ 'f:replicas': {}, 'f:strategy': { 'f:rollingUpdate': parts } })),
      entry('a', 'Update', spec({ 'f:paused': {} })),
      entry('b', 'Apply', spec({ 'f:strategy': { 'f:type': {} } })),
    ]);
  });
});

describe('release', () => {
  it('removes the field from the applied fields of the manager only', () => {
    const scale = entry('autoscaler', 'Update', spec({ 'f:replicas': {} }), 'scale');
    const ours = entry('ours', 'Apply', spec({ 'f:replicas': {}, 'f:selector': {} }));
    expect(release([scale, ours], 'ours', ['f:spec', 'f:replicas'])).toEqual([
      scale,
      entry('ours', 'Apply', spec({ 'f:selector': {} })),
    ]);
  });
});

describe('hasField', () => {
  it.each([
    [true, ['f:spec', 'f:replicas']],
    [true, ['f:spec']],
    [false, ['f:spec', 'f:paused']],
    [false, ['f:status', 'f:replicas']],
  ])('%s for %j', (expected, path) => {
    expect(hasField(entry('a', 'Apply', spec({ 'f:replicas': {} })), path)).toBe(expected);
  });
});

describe('heldBy', () => {
  const containers = {
    'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': {} } },
  };
  const labels = { 'f:labels': { '.': {}, 'f:app.kubernetes.io/name': {} } };
  const fields = [
    entry('ours', 'Apply', {
      'f:spec': { 'f:paused': {}, 'f:template': { 'f:spec': { 'f:containers': containers } } },
    }),
    entry('person', 'Update', { 'f:metadata': labels, 'f:spec': { 'f:tolerations': {} } }),
    entry('autoscaler', 'Update', spec({ 'f:replicas': {} }), 'scale'),
    entry('controller', 'Update', spec({ 'f:replicas': {} }), 'status'),
    entry('nobody', 'Update', {}),
  ];

  it.each([
    ['.spec.template.spec.containers[web].image', ['ours']],
    ['.spec.template.spec.containers[web].ports[80/TCP].name', ['ours']],
    ['.spec.template.spec.containers[web]', ['ours']],
    ['.spec.template.spec.containers[other].image', []],
    ['.spec.template.spec.containers[web].imagePullPolicy', []],
    ['.metadata.labels.app.kubernetes.io/name', ['person']],
    ['.metadata.labels.app.kubernetes.io/named', []],
    ['.metadata.labels.other', []],
    // An atomic list.
    ['.spec.tolerations[0].key', ['person']],
    ['.spec.replicas', ['autoscaler']],
    ['.spec', ['autoscaler', 'ours', 'person']],
  ])('%s is of %j', (path, managers) => {
    expect(heldBy(fields, path)).toEqual(managers);
  });
});

describe('managersOf', () => {
  const content = entry('b', 'Update', spec({ 'f:replicas': {} }));
  const labels = entry('a', 'Update', { 'f:metadata': {} });
  const status = entry('c', 'Update', { 'f:status': {} }, 'status');

  it.each([
    [['b'], [labels, content, content, status]],
    [['a'], [labels, status]],
    [[], [status]],
  ])('%j has written the content, or else the metadata', (managers, fields) => {
    expect(managersOf(fields)).toEqual(managers);
  });
});
