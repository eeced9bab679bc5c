import { component } from './scene.ts';

/** A database, two services that need one another's, and an agent that needs nothing. */
export const DB = component('db', {
  kind: 'StatefulSet',
  workload: { replicas: 2, services: [{ headless: true, ports: [{ port: 5432 }] }] },
});
export const API = component('api', {
  dependsOn: ['db'],
  workload: { replicas: 2, services: [{ ports: [{ port: 80 }] }] },
});
export const WEB = component('web', { dependsOn: ['api'] });
export const AGENT = component('agent', { kind: 'DaemonSet' });
/** The dependencies come last in the spec on purpose. */
export const ALL = [WEB, API, AGENT, DB];
