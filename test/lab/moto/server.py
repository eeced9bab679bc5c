"""Starts moto's server, with a fault of moto 5.2.5 mended: it deletes all record sets of a zone with a SetIdentifier,
where Route 53 deletes the one of that name and type."""

import sys

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

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
