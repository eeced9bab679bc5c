import type { Client } from '../../../src/runtime/client/client.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { ENDPOINT_SLICES, INGRESSES } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../../../src/weights/records/endpoint.ts';

/** The annotation with an application's share. */
export const ANNOTATION = 'dns.adevinta.com/traffic-weight';
export const PERSON = { fieldManager: 'person' };

/** The fields of an Ingress besides its name. */
export interface Deployed {
  /** Default: its name within example.org. */
  readonly host?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Actions of people and other controllers on the Ingresses of a namespace. */
export class Ingresses {
  readonly #client: Client;
  readonly #namespace: string;

  constructor(client: Client, namespace = 'default') {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** An Ingress with a load balancer, and a Service of its name that is ready. */
  async deploy(name: string, over: Deployed = {}): Promise<void> {
    await this.setReady(name, true);
    await this.create(name, over);
  }

  /** An Ingress with a load balancer, whose Service, of its name, has no endpoints yet. */
  async create(name: string, { host = `${name}.example.org`, annotations = {} }: Deployed = {}): Promise<void> {
    const backend = { service: { name, port: { number: 80 } } };
    await this.#client.create(INGRESSES, {
      metadata: { ...this.#ref(name), annotations },
      spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    });
    await this.setAddresses(name, [{ hostname: 'lb.example.net' }]);
  }

  async setAddresses(name: string, ingress: readonly object[]): Promise<void> {
    const patch = { status: { loadBalancer: { ingress } } };
    await this.#client.mergePatch(INGRESSES, this.#ref(name), patch, { ...PERSON, subresource: 'status' });
  }

  /** @param value null: removes it */
  async annotate(name: string, value: string | null, annotation = ANNOTATION): Promise<void> {
    const patch = { metadata: { annotations: { [annotation]: value } } };
    await this.#client.mergePatch(INGRESSES, this.#ref(name), patch, PERSON);
  }

  delete(name: string): Promise<void> {
    return this.#client.delete(INGRESSES, this.#ref(name));
  }

  async setReady(service: string, ready: boolean): Promise<void> {
    const labels = { 'kubernetes.io/service-name': service };
    const endpoints = [{ addresses: ['192.0.2.1'], conditions: { ready } }];
    const slice = { metadata: { ...this.#ref(service), labels }, addressType: 'IPv4', endpoints };
    await this.#client.apply(ENDPOINT_SLICES, slice, PERSON);
  }

  /** Undefined if there is none. */
  async endpoint(name: string): Promise<DnsEndpoint | undefined> {
    return this.#client.get(DNS_ENDPOINTS, this.#ref(name)).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  /** The weights of a DNSEndpoint's records, by host; undefined if there is no DNSEndpoint. */
  async weights(name: string): Promise<Record<string, string | undefined> | undefined> {
    const { spec } = (await this.endpoint(name)) ?? {};
    const weights = spec?.endpoints?.map(({ dnsName, providerSpecific }) => [dnsName, providerSpecific?.[0]?.value]);
    return weights && (Object.fromEntries(weights) as Record<string, string | undefined>);
  }

  #ref(name: string): { namespace: string; name: string } {
    return { namespace: this.#namespace, name };
  }
}
