"""Starts moto's server, with two faults of moto 5.2.5 mended. It deletes all record sets of a zone with a SetIdentifier,
where Route 53 deletes the one of that name and type. And its threads read and write a table at the same time, also in the
middle of a transaction, which in DynamoDB are isolated from each other."""

import functools
import sys
import threading

from moto.dynamodb.models import DynamoDBBackend
from moto.route53.models import Route53Backend
from moto.server import main

change_all = Route53Backend.change_resource_record_sets


def is_weighted_deletion(change):
    return change["Action"] == "DELETE" and "SetIdentifier" in change["ResourceRecordSet"]


def change_resource_record_sets(self, zoneid, change_list):
    """Leaves to moto what it does right, and its checks, and then deletes one record set for each deletion."""
    deletions = [change["ResourceRecordSet"] for change in change_list if is_weighted_deletion(change)]
    change_all(self, zoneid, [change for change in change_list if not is_weighted_deletion(change)])
    zone = self.get_hosted_zone(zoneid)
    gone = {(one["Name"].rstrip(".") + ".", one["Type"], one["SetIdentifier"]) for one in deletions}
    zone.rrsets = [one for one in zone.rrsets if (one.name, one.type, one.set_identifier) not in gone]


Route53Backend.change_resource_record_sets = change_resource_record_sets

TABLE_LOCK = threading.RLock()
TABLE_CALLS = ("get_item", "scan", "put_item", "update_item", "delete_item", "transact_write_items")


def one_at_a_time(call):
    @functools.wraps(call)
    def locked(*args, **kwargs):
        with TABLE_LOCK:
            return call(*args, **kwargs)

    return locked


for name in TABLE_CALLS:
    setattr(DynamoDBBackend, name, one_at_a_time(getattr(DynamoDBBackend, name)))

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
