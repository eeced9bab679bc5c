import {
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
  /** All record sets, but for the marks of external-dns. */
  records(): Promise<ResourceRecordSet[]>;
  /** The weights of a cluster's record sets, by name with a dot at its end. */
  weightsOf(setIdentifier: string): Promise<Record<string, number | undefined>>;
  stop(): Promise<void>;
}

/** Starts the server, and creates the zone of `domain`. */
export async function startZone(domain: string): Promise<Zone> {
  const aws = await startAws();
  const route53 = new Route53Client(aws.client);
  const made = await route53.send(new CreateHostedZoneCommand({ Name: domain, CallerReference: 'test' }));
  const records = async (): Promise<ResourceRecordSet[]> => {
    const { Id } = made.HostedZone ?? {};
    const { ResourceRecordSets = [] } = await route53.send(new ListResourceRecordSetsCommand({ HostedZoneId: Id }));
    return ResourceRecordSets.filter(({ Type }) => Type !== 'TXT');
  };
  return {
    ...{ aws, domain, records },
    async weightsOf(setIdentifier) {
      const own = (await records()).filter(({ SetIdentifier }) => SetIdentifier === setIdentifier);
      return Object.fromEntries(own.map(({ Name = '', Weight }) => [Name, Weight]));
    },
    stop: () => aws.stop(),
  };
}
