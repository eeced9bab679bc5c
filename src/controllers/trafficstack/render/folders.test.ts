import { describe, expect, it } from 'vitest';
import type { WorkloadComponent } from '../../../api/trafficstack/trafficStack.ts';
import { db, objects, problems, workload } from '../testing/rendering.ts';
import { component } from '../testing/stacks.ts';

describe('files', () => {
  const reading = (content: string, over: Partial<WorkloadComponent> = {}): WorkloadComponent => {
    const config = [{ name: 'etc', mountPath: '/etc/app', files: { 'app.conf': content } }];
    return component('web', { dependsOn: ['db'], workload: workload({ config }), ...over });
  };
  const fileOf = (content: string, ...before: WorkloadComponent[]) =>
    (objects([...before, reading(content)]).get('ConfigMap') as { data: Record<string, string> }).data['app.conf'];

  it.each([
    [
      'the names of the pods of a StatefulSet',
      '${components.db.addresses.join(",")}',
      'db-0.db.shop.svc,db-1.db.shop.svc',
    ],
    ['the port behind a headless Service', '${components.db.port} ${components.db.ports.sql}', '5432 5432'],
    ['replicas and names', '${components.db.replicas} ${components.db.name} ${components.db.namespace}', '2 db shop'],
    ['itself', '${self.name} ${self.replicas} ${self.addresses.size()}', 'web 2 0'],
    ['the level of the log', '${common.logLevel}', 'info'],
  ])('have %s', (_, content, text) => {
    expect(fileOf(content, db())).toBe(text);
  });

  it('have the name of a Service in front of a Deployment', () => {
    const services = [{ name: 'api', ports: [{ port: 80, targetPort: 8080 }] }];
    const api = component('db', { workload: workload({ services }) });
    expect(fileOf('${components.db.addresses[0]}:${components.db.port}', api)).toBe('api.shop.svc:80');
  });

  it('are a ConfigMap whose name changes with them, mounted in all containers, also before the first start', () => {
    const podTemplate = { spec: { initContainers: [{ name: 'init' }], containers: [{ name: 'a' }, { name: 'b' }] } };
    const of = (content: string) => {
      const spec = reading(content);
      const all = objects([db(), { ...spec, workload: { ...spec.workload, podTemplate } }]);
      const { metadata } = all.get('ConfigMap') as { metadata: { name: string } };
      return { name: metadata.name, deployment: all.get('Deployment') };
    };
    const { name, deployment } = of('one');
    expect(name).toMatch(/^web-etc-[0-9a-f]{10}$/);
    expect(of('two').name).not.toBe(name);
    const mounts = { volumeMounts: [{ name: 'config-etc', mountPath: '/etc/app', readOnly: true }] };
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            volumes: [{ name: 'config-etc', configMap: { name } }],
            initContainers: [mounts],
            containers: [mounts, mounts],
          },
        },
      },
    });
  });

  it('that cannot be rendered are reported with their place', () => {
    expect(problems([db(), reading('a\n${components.cache.port}')])).toEqual([
      'component web, config etc, file app.conf, line 2: ${components.cache.port}: No such key: cache, which dependsOn does not name',
    ]);
  });

  it('have the port of the Service whose addresses they have', () => {
    const services = [
      { name: 'members', headless: true, ports: [{ name: 'sql', port: 80, targetPort: 5432 }] },
      {
        ports: [
          { name: 'sql', port: 80, targetPort: 5432 },
          { name: 'admin', port: 9000 },
        ],
      },
    ];
    const text = '${components.db.service} ${components.db.ports.sql} ${components.db.ports.admin}';
    expect(fileOf(text, db({ services }))).toBe('members.shop.svc 5432 9000');
    expect(fileOf(text, db({ services: services.toReversed() }))).toBe('members.shop.svc 5432 9000');
  });

  it('that clash with other mounts are reported', () => {
    const spec = reading('x');
    const containers = [{ name: 'a', volumeMounts: [{ name: 'own', mountPath: '/etc/app' }] }];
    const podTemplate = { spec: { containers, volumes: [{ name: 'config-two' }] } };
    const config = [...(spec.workload.config ?? []), { name: 'two', mountPath: '/etc/two', files: {} }];
    expect(problems([db(), { ...spec, workload: { ...spec.workload, podTemplate, config } }])).toEqual([
      'component web, config etc: something else is mounted at /etc/app',
      'component web, config two: the pods have a volume config-two of their own',
    ]);
    const twice = [...(spec.workload.config ?? []), { name: 'two', mountPath: '/etc/app', files: {} }];
    expect(problems([db(), { ...spec, workload: { ...spec.workload, config: twice } }])).toEqual([
      'component web, config two: something else is mounted at /etc/app',
    ]);
  });

  it('know no number that an autoscaler decides', () => {
    const [problem] = problems([
      component('db', { workload: workload({ replicas: undefined }) }),
      reading('${components.db.replicas}'),
    ]);
    expect(problem).toMatch(/No such key: replicas$/);
  });
});
