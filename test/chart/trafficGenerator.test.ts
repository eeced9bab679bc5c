import { join } from 'node:path';
import type { V1Container, V1Deployment, V1Service } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { DEPLOY, read } from './olm/files.ts';

/** deploy/samples/traffic_generator.yaml: pods with a server and a client, which sends through the Service of the servers. */
const OBJECTS = read(join(DEPLOY, 'samples/traffic_generator.yaml'));
const [, service, deployment] = OBJECTS as unknown as [unknown, V1Service, V1Deployment];
const { metadata, spec } = deployment.spec!.template;
const [server, client] = spec!.containers as [V1Container, V1Container];

it('is a Namespace, a Service and a Deployment of a server and a client', () => {
  expect(OBJECTS.map(({ kind }) => kind)).toEqual(['Namespace', 'Service', 'Deployment']);
  expect(spec!.containers.map(({ name }) => name)).toEqual(['server', 'client']);
  const [namespace] = OBJECTS.map((each) => each.metadata.name);
  for (const each of [service, deployment]) expect(each.metadata?.namespace).toBe(namespace);
});

it('the Service selects the pods, and its port is the port of the server', () => {
  expect(metadata?.labels).toMatchObject(service.spec!.selector!);
  expect(deployment.spec!.selector.matchLabels).toEqual(metadata?.labels);
  const { name, containerPort } = server.ports![0]!;
  expect(service.spec!.ports!.map(({ targetPort }) => targetPort)).toEqual([name]);
  expect(server.args!.join()).toContain(`exec httpd -f -p ${containerPort} `);
});

it('the client sends to the Service, not to the server of its own pod', () => {
  const address = client.env?.find(({ name }) => name === 'SERVER')?.value;
  expect(address).toBe(`${service.metadata?.name}:${service.spec!.ports![0]!.port}`);
  const urls = client.args!.join().match(/http:[^"\s]+/g);
  expect(urls).toEqual(['http://$SERVER/cgi-bin/echo']);
});
