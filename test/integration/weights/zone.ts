import {
  ChangeResourceRecordSetsCommand,
  CreateHostedZoneCommand,
  ListResourceRecordSetsCommand,
  Route53Client,
  type ResourceRecordSet,
} from '@aws-sdk/client-route-53';
import { startAws, type Aws } from '../../harness/moto.ts';

/** A hosted zone of a server that answers as Route 53. */
export interface Zone {
  readonly aws: Aws;
  readonly domain: string;
  /** Without the prefix /hostedzone/. */
  readonly id: string;
  /** All record sets, but for the marks of external-dns. */
  records(): Promise<ResourceRecordSet[]>;
  /** These marks: TXT records, which say whose a record set is. */
  marks(): Promise<ResourceRecordSet[]>;
  /** The weights of a cluster's record sets, by name with a dot at its end. */
  weightsOf(setIdentifier: string): Promise<Record<string, number | undefined>>;
  /** Changes records as a client other than external-dns. */
  change(action: 'UPSERT' | 'DELETE', ...sets: ResourceRecordSet[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server, and creates the zone of `domain`. */
export async function startZone(domain: string): Promise<Zone> {
  const aws = await startAws();
  const route53 = new Route53Client(aws.client);
  const made = await route53.send(new CreateHostedZoneCommand({ Name: domain, CallerReference: 'test' }));
  const id = made.HostedZone?.Id?.replace('/hostedzone/', '') ?? '';
  const all = async (): Promise<ResourceRecordSet[]> => {
    const { ResourceRecordSets = [] } = await route53.send(new ListResourceRecordSetsCommand({ HostedZoneId: id }));
    return ResourceRecordSets;
  };
  const records = async () => (await all()).filter(({ Type }) => Type !== 'TXT');
  return {
    ...{ aws, domain, id, records },
    marks: async () => (await all()).filter(({ Type }) => Type === 'TXT'),
    async weightsOf(setIdentifier) {
      const own = (await records()).filter(({ SetIdentifier }) => SetIdentifier === setIdentifier);
      return Object.fromEntries(own.map(({ Name = '', Weight }) => [Name, Weight]));
    },
    async change(Action, ...sets) {
      const Changes = sets.map((ResourceRecordSet) => ({ Action, ResourceRecordSet }));
      await route53.send(new ChangeResourceRecordSetsCommand({ HostedZoneId: id, ChangeBatch: { Changes } }));
    },
    stop: () => aws.stop(),
  };
}
