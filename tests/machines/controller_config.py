# SPDX-License-Identifier: Apache-2.0
"""A ControllerConfig as the Operator writes it: with each field that OpenShift's CRD requires, even if it is null."""

import base64

from .certs import named_authority

_REQUIRED_FIELDS = {
    "additionalTrustBundle": None, "baseOSContainerImage": "registry/os@sha256:1", "cloudProviderCAData": None,
    "cloudProviderConfig": "[Global]\n", "clusterDNSIP": "10.96.0.10", "dns": None, "images": {}, "ipFamilies": "IPv4",
    "network": None, "proxy": None, "releaseImage": "registry/release@sha256:1",
    "infra": {"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": {"name": "cluster"},
              "spec": {}, "status": {}},
}


def controller_config(annotations=None, **spec):
    authority = base64.b64encode(named_authority("Pintle test authority").encode()).decode("ascii")
    return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "ControllerConfig",
            "metadata": {"name": "machine-config-controller", "annotations": annotations or {}},
            "spec": _REQUIRED_FIELDS | {"kubeAPIServerServingCAData": authority, "rootCAData": authority} | spec}
