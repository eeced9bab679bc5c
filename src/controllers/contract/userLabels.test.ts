import { expect, it } from 'vitest';
import { DEPLOYMENTS, SERVICES } from '../../runtime/client/resources.ts';
import type { BuiltIn } from './builtIn.ts';
import { withUserLabels } from './userLabels.ts';

const LABELS = { app: 'prometheus' };
const OBJECTS = [
  { resource: SERVICES, object: { metadata: { name: 'prometheus', labels: LABELS }, spec: { selector: LABELS } } },
  {
    resource: DEPLOYMENTS,
    object: {
      metadata: { name: 'prometheus' },
      spec: { replicas: 1, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: {} } },
    },
  },
];
const BUILT_IN = { type: 'Prometheus', isDeployed: true, render: () => OBJECTS } as unknown as BuiltIn;
const NONE = { objectLabel: [], podLabel: [], podAnnotation: [] };
const rendered = (given: object) =>
  withUserLabels(BUILT_IN, { ...NONE, ...given })
    .render({ name: 'p', type: 'Prometheus' })
    .map(({ object }) => object);

it('objects without labels of users are as they were', () => {
  expect(rendered({})).toEqual(OBJECTS.map(({ object }) => object));
});

it('labels of users are on objects and pods, never in selectors, and replace no own label', () => {
  const team = ['team', 'net'];
  const given = {
    objectLabel: [team, ['app', 'x']],
    podLabel: [
      ['mesh', 'off'],
      ['app', 'x'],
    ],
    podAnnotation: [team],
  };
  const [service, deployment] = rendered(given);
  expect(service).toEqual({
    metadata: { name: 'prometheus', labels: { team: 'net', app: 'prometheus' } },
    spec: { selector: LABELS },
  });
  expect(deployment).toEqual({
    metadata: { name: 'prometheus', labels: { team: 'net', app: 'x' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: { mesh: 'off', app: 'prometheus' }, annotations: { team: 'net' } }, spec: {} },
    },
  });
});
