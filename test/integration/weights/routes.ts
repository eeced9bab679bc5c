import type { Client } from '../../../src/runtime/client/client.ts';
import type { Condition } from '../../../src/runtime/controller/conditions.ts';
import { GATEWAYS, HTTP_ROUTES, LISTENER_SETS } from '../../../src/weights/gateway/gatewayApi.ts';
import { installCrd } from '../../harness/customResource.ts';
import { gatewayApiCrds } from '../../harness/externalDns.ts';
import { PERSON } from './ingresses.ts';

const CONTROLLER = 'example.com/gateways';

/** Installs the CRDs of the Gateway API. */
export async function installGatewayApi(client: Client): Promise<void> {
  const [gateways, routes, sets] = await gatewayApiCrds();
  await installCrd(client, gateways, GATEWAYS);
  await installCrd(client, routes, HTTP_ROUTES);
  await installCrd(client, sets, LISTENER_SETS);
}

/** Actions of people on Gateways and HTTPRoutes of the namespace `default`, and the status that a controller of Gateways writes. */
export class Routes {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** A Gateway of the class `public` with one listener for any host and namespace. */
  async createGateway(name: string, address: string): Promise<void> {
    const allowedRoutes = { namespaces: { from: 'All' } };
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes }];
    await this.#client.create(GATEWAYS, {
      metadata: ref(name),
      spec: { gatewayClassName: 'public', listeners },
    });
    await this.setAddress(name, address);
  }

  async setAddress(name: string, value: string): Promise<void> {
    const status = { addresses: [{ type: 'IPAddress', value }] };
    await this.#client.mergePatch(GATEWAYS, ref(name), { status }, { ...PERSON, subresource: 'status' });
  }

  /** A ListenerSet with one listener for the routes of its namespace, of a Gateway that takes it. */
  async createListenerSet(name: string, gateway: string): Promise<void> {
    const allowedListeners = { namespaces: { from: 'Same' } };
    await this.#client.mergePatch(GATEWAYS, ref(gateway), { spec: { allowedListeners } }, PERSON);
    const listeners = [{ name: 'http', port: 8080, protocol: 'HTTP' }];
    await this.#client.create(LISTENER_SETS, {
      metadata: ref(name),
      spec: { parentRef: { name: gateway }, listeners },
    });
  }

  /** A route of one host to the Service of its name, which a ListenerSet accepts. */
  async createOfSet(name: string, set: string): Promise<void> {
    const parentRef = { group: 'gateway.networking.k8s.io', kind: 'ListenerSet', name: set };
    const rules = [{ backendRefs: [{ name, port: 80 }] }];
    const hostnames = [`${name}.example.org`];
    await this.#client.create(HTTP_ROUTES, {
      metadata: ref(name),
      spec: { parentRefs: [parentRef], hostnames, rules },
    });
    const parents = [{ parentRef, controllerName: CONTROLLER, conditions: [accepted(true)] }];
    await this.#client.mergePatch(
      HTTP_ROUTES,
      ref(name),
      { status: { parents } },
      { ...PERSON, subresource: 'status' },
    );
  }

  deleteGateway(name: string): Promise<void> {
    return this.#client.delete(GATEWAYS, ref(name));
  }

  /** A route of one host to the Service of its name, which a Gateway accepts. */
  async create(name: string, { host = `${name}.example.org`, gateway = 'gateway' } = {}): Promise<void> {
    const spec = { parentRefs: [{ name: gateway }], hostnames: [host], rules: [{ backendRefs: [{ name, port: 80 }] }] };
    await this.#client.create(HTTP_ROUTES, { metadata: ref(name), spec: spec });
    await this.accept(name, true, gateway);
  }

  /**
   * A route of any namespace that a Gateway accepts, with one rule without backends: the Gateway answers 500.
   * @param sectionName a listener of the Gateway; default: all of them
   */
  async createWithoutBackends(namespace: string, name: string, host: string, sectionName?: string): Promise<void> {
    const parentRef = { ...ref('gateway'), ...(sectionName !== undefined && { sectionName }) };
    await this.#client.create(HTTP_ROUTES, {
      metadata: { namespace, name },
      spec: { parentRefs: [parentRef], hostnames: [host], rules: [{}] },
    });
    const parents = [{ parentRef, controllerName: CONTROLLER, conditions: [accepted(true)] }];
    const options = { ...PERSON, subresource: 'status' };
    await this.#client.mergePatch(HTTP_ROUTES, { namespace, name }, { status: { parents } }, options);
  }

  delete(name: string): Promise<void> {
    return this.#client.delete(HTTP_ROUTES, ref(name));
  }

  async accept(name: string, isAccepted: boolean, gateway = 'gateway'): Promise<void> {
    const parents = [{ parentRef: { name: gateway }, controllerName: CONTROLLER, conditions: [accepted(isAccepted)] }];
    await this.#client.mergePatch(
      HTTP_ROUTES,
      ref(name),
      { status: { parents } },
      { ...PERSON, subresource: 'status' },
    );
  }

  async annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    await this.#client.mergePatch(HTTP_ROUTES, ref(name), { metadata: { annotations } }, PERSON);
  }

  uid(name: string): Promise<string | undefined> {
    return this.#client.get(HTTP_ROUTES, ref(name)).then(({ metadata }) => metadata?.uid);
  }
}

function accepted(isAccepted: boolean): Condition {
  const condition = { type: 'Accepted', status: isAccepted ? 'True' : 'False', reason: 'Test', message: '' } as const;
  return { ...condition, lastTransitionTime: new Date().toISOString() };
}

function ref(name: string): { namespace: string; name: string } {
  return { namespace: 'default', name };
}
