{{/* Generated from the controllers' rights in src/controllers by `make generate`. Do not edit. */}}

{{- define "traffic-operator.rights.controller.cluster" -}}
# The operator creates the namespace of node-exporter, so no Role can exist there before. Resource names limit these rights.
- apiGroups: ['']
  resources: ['namespaces']
  resourceNames: ['{{ .Release.Namespace }}-node-exporter']
  verbs: ['list', 'watch', 'create', 'patch', 'delete']
- apiGroups: ['']
  resources: ['services', 'serviceaccounts']
  resourceNames: ['node-exporter']
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete']
- apiGroups: ['apps']
  resources: ['daemonsets']
  resourceNames: ['node-exporter']
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete']
- apiGroups: ['discovery.k8s.io']
  resources: ['endpointslices']
  verbs: ['list', 'watch']
# To keep the exporter's namespace if it has pods that are not ours. And to find the pods of an exporter that a TrafficStack uses.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['list']
# The operator creates the namespace of the agents, so no Role can exist there before. Resource names limit these rights.
- apiGroups: ['']
  resources: ['namespaces']
  resourceNames: ['{{ .Release.Namespace }}-connectivity']
  verbs: ['list', 'watch', 'delete']
- apiGroups: ['']
  resources: ['serviceaccounts']
  resourceNames: ['netchecker-agent']
  verbs: ['get', 'list', 'watch', 'delete']
# The CA of the server, for the agents, with TLS.
- apiGroups: ['']
  resources: ['configmaps']
  resourceNames: ['netchecker-server-ca']
  verbs: ['list', 'watch', 'delete']
- apiGroups: ['']
  resources: ['services']
  resourceNames: ['netchecker-agent', 'netchecker-agent-hostnet']
  verbs: ['get', 'list', 'watch', 'delete']
- apiGroups: ['apps']
  resources: ['daemonsets']
  resourceNames: ['netchecker-agent', 'netchecker-agent-hostnet']
  verbs: ['get', 'list', 'watch', 'delete']
# To keep the namespace of the agents if it has pods that are not ours.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['list']
# Verdicts are node labels.
- apiGroups: ['']
  resources: ['nodes']
  verbs: ['list', 'watch', 'patch']
- apiGroups: ['traffic.example.com']
  resources: ['trafficwatches']
  verbs: ['list', 'watch', 'patch']
- apiGroups: ['traffic.example.com']
  resources: ['trafficwatches/status']
  verbs: ['patch']
# What the policy gives the pods of a namespace. An apply creates them by name.
- apiGroups: ['traffic.example.com']
  resources: ['podplacements']
  resourceNames: ['traffic-operator']
  verbs: ['list', 'watch', 'create', 'patch', 'delete']
# The selectors of workloads that spec.targetRef names, and the Deployments of the TrafficWatches.
- apiGroups: ['apps']
  resources: ['deployments', 'statefulsets', 'replicasets', 'daemonsets']
  verbs: ['get']
- apiGroups: ['batch']
  resources: ['jobs', 'cronjobs']
  verbs: ['get']
# Whether the policy, or else the webhook, that gives pods the node affinity is installed.
- apiGroups: ['admissionregistration.k8s.io']
  resources: ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations']
  verbs: ['list']
# Whether that webhook has a pod that is ready.
- apiGroups: ['discovery.k8s.io']
  resources: ['endpointslices']
  verbs: ['list']
# Pods that a kubelet rejects on an unfit node or that are evicted from it, and pods that find no node while nodes are unfit.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['list', 'watch']
- apiGroups: ['traffic.example.com']
  resources: ['connectivitychecks']
  verbs: ['list', 'watch']
# Verdict, findings and outages are in the status.
- apiGroups: ['traffic.example.com']
  resources: ['connectivitychecks/status']
  verbs: ['patch']
# create: the stack "default". patch: that one, and the finalizer.
- apiGroups: ['traffic.example.com']
  resources: ['trafficstacks']
  verbs: ['list', 'watch', 'create', 'patch']
# If the flags no longer deploy anything.
- apiGroups: ['traffic.example.com']
  resources: ['trafficstacks']
  resourceNames: ['default']
  verbs: ['delete']
- apiGroups: ['traffic.example.com']
  resources: ['trafficstacks/status']
  verbs: ['patch']
# For the owner references, if the admission plugin OwnerReferencesPermissionEnforcement is enabled.
- apiGroups: ['traffic.example.com']
  resources: ['trafficstacks/finalizers']
  verbs: ['update']
# To find an existing node-exporter.
- apiGroups: ['apps']
  resources: ['daemonsets']
  verbs: ['get', 'list', 'watch']
# To find an existing Prometheus.
- apiGroups: ['']
  resources: ['services']
  verbs: ['get', 'list', 'watch']
# Why a component is not ready, and whether own pods of node-exporter listen.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['list', 'watch']
{{- end -}}

{{- define "traffic-operator.rights.controller.own" -}}
- apiGroups: ['']
  resources: ['services', 'serviceaccounts']
  resourceNames: ['prometheus']
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete']
- apiGroups: ['']
  resources: ['configmaps']
  resourceNames: ['prometheus-config']
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete']
- apiGroups: ['']
  resources: ['configmaps']
  resourceNames: ['prometheus-targets', 'prometheus-targets-2', 'prometheus-agent-targets', 'prometheus-agent-targets-2']
  verbs: ['list', 'watch', 'create', 'patch', 'delete']
- apiGroups: ['']
  resources: ['persistentvolumeclaims']
  resourceNames: ['prometheus']
  verbs: ['list', 'watch', 'create', 'patch', 'delete']
- apiGroups: ['apps']
  resources: ['deployments']
  resourceNames: ['prometheus']
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete']
# To annotate Prometheus' pod when its targets change, and to find the operator's Deployment, the owner of these objects.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['get', 'list', 'watch', 'patch']
- apiGroups: ['apps']
  resources: ['replicasets']
  verbs: ['get']
- apiGroups: ['']
  resources: ['serviceaccounts']
  resourceNames: ['netchecker-server']
  verbs: ['get', 'list', 'watch', 'delete']
- apiGroups: ['']
  resources: ['services']
  resourceNames: ['netchecker-service']
  verbs: ['get', 'list', 'watch', 'delete']
- apiGroups: ['apps']
  resources: ['deployments']
  resourceNames: ['netchecker-server']
  verbs: ['get', 'list', 'watch', 'delete']
# The last ready revision of components, for rollbacks.
- apiGroups: ['apps']
  resources: ['controllerrevisions']
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete']
# Why a component is not ready, where no status tells: a quota, a volume, a probe.
- apiGroups: ['events.k8s.io']
  resources: ['events']
  verbs: ['list']
{{- end -}}

{{- define "traffic-operator.rights.cleanup.cluster" -}}
# The operator creates the namespace of node-exporter, so no Role can exist there before. Resource names limit these rights.
- apiGroups: ['']
  resources: ['namespaces']
  resourceNames: ['{{ .Release.Namespace }}-node-exporter']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['services', 'serviceaccounts']
  resourceNames: ['node-exporter']
  verbs: ['get', 'delete']
- apiGroups: ['apps']
  resources: ['daemonsets']
  resourceNames: ['node-exporter']
  verbs: ['get', 'delete']
# To keep the exporter's namespace if it has pods that are not ours.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['list']
# The operator creates the namespace of the agents, so no Role can exist there before. Resource names limit these rights.
- apiGroups: ['']
  resources: ['namespaces']
  resourceNames: ['{{ .Release.Namespace }}-connectivity']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['serviceaccounts']
  resourceNames: ['netchecker-agent']
  verbs: ['get', 'delete']
# The CA of the server, for the agents, with TLS.
- apiGroups: ['']
  resources: ['configmaps']
  resourceNames: ['netchecker-server-ca']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['services']
  resourceNames: ['netchecker-agent', 'netchecker-agent-hostnet']
  verbs: ['get', 'delete']
- apiGroups: ['apps']
  resources: ['daemonsets']
  resourceNames: ['netchecker-agent', 'netchecker-agent-hostnet']
  verbs: ['get', 'delete']
# To keep the namespace of the agents if it has pods that are not ours.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['list']
- apiGroups: ['']
  resources: ['nodes']
  verbs: ['list', 'patch']
- apiGroups: ['traffic.example.com']
  resources: ['trafficwatches']
  verbs: ['list', 'patch']
- apiGroups: ['traffic.example.com']
  resources: ['podplacements']
  resourceNames: ['traffic-operator']
  verbs: ['list', 'delete']
- apiGroups: ['traffic.example.com']
  resources: ['trafficstacks']
  verbs: ['list', 'patch']
- apiGroups: ['traffic.example.com']
  resources: ['trafficstacks']
  resourceNames: ['default']
  verbs: ['delete']
{{- end -}}

{{- define "traffic-operator.rights.cleanup.own" -}}
- apiGroups: ['']
  resources: ['services', 'serviceaccounts']
  resourceNames: ['prometheus']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['configmaps']
  resourceNames: ['prometheus-config']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['configmaps']
  resourceNames: ['prometheus-targets', 'prometheus-targets-2', 'prometheus-agent-targets', 'prometheus-agent-targets-2']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['persistentvolumeclaims']
  resourceNames: ['prometheus']
  verbs: ['get', 'delete']
- apiGroups: ['apps']
  resources: ['deployments']
  resourceNames: ['prometheus']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['serviceaccounts']
  resourceNames: ['netchecker-server']
  verbs: ['get', 'delete']
- apiGroups: ['']
  resources: ['services']
  resourceNames: ['netchecker-service']
  verbs: ['get', 'delete']
- apiGroups: ['apps']
  resources: ['deployments']
  resourceNames: ['netchecker-server']
  verbs: ['get', 'delete']
{{- end -}}

{{- define "traffic-operator.rights.connectivity.cluster" -}}
# The operator creates the namespace of the agents, so no Role can exist there before. Resource names limit these rights.
- apiGroups: ['']
  resources: ['namespaces']
  resourceNames: ['{{ .Release.Namespace }}-connectivity']
  verbs: ['create', 'patch']
- apiGroups: ['']
  resources: ['serviceaccounts']
  resourceNames: ['netchecker-agent']
  verbs: ['create', 'patch']
# The CA of the server, for the agents, with TLS.
- apiGroups: ['']
  resources: ['configmaps']
  resourceNames: ['netchecker-server-ca']
  verbs: ['create', 'patch']
- apiGroups: ['']
  resources: ['services']
  resourceNames: ['netchecker-agent', 'netchecker-agent-hostnet']
  verbs: ['create', 'patch']
- apiGroups: ['apps']
  resources: ['daemonsets']
  resourceNames: ['netchecker-agent', 'netchecker-agent-hostnet']
  verbs: ['create', 'patch']
# To create the first ConnectivityCheck where there is none. It changes and deletes none.
- apiGroups: ['traffic.example.com']
  resources: ['connectivitychecks']
  verbs: ['list', 'create']
{{- end -}}

{{- define "traffic-operator.rights.connectivity.own" -}}
- apiGroups: ['']
  resources: ['serviceaccounts']
  resourceNames: ['netchecker-server']
  verbs: ['create', 'patch']
- apiGroups: ['']
  resources: ['services']
  resourceNames: ['netchecker-service']
  verbs: ['create', 'patch']
- apiGroups: ['apps']
  resources: ['deployments']
  resourceNames: ['netchecker-server']
  verbs: ['create', 'patch']
# To find the operator's Deployment, the owner of these objects.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['get']
- apiGroups: ['apps']
  resources: ['replicasets']
  verbs: ['get']
{{- end -}}

{{- define "traffic-operator.rights.trafficWatch.deployments.cluster" -}}
# For blockOwnerDeletion, if the admission plugin OwnerReferencesPermissionEnforcement is enabled.
- apiGroups: ['traffic.example.com']
  resources: ['trafficwatches/finalizers']
  verbs: ['update']
# The Deployments of the TrafficWatches.
- apiGroups: ['apps']
  resources: ['deployments']
  verbs: ['list', 'watch']
{{- end -}}

{{- define "traffic-operator.rights.trafficWatch.deployments.own" -}}
{{- end -}}

{{- define "traffic-operator.rights.trafficWatch.deployments.namespaces" -}}
# To write the Deployments of the TrafficWatches: in every namespace, or only in the namespaces of a value.
- apiGroups: ['apps']
  resources: ['deployments']
  verbs: ['create', 'patch']
{{- end -}}

{{- define "traffic-operator.rights.weights.cluster" -}}
- apiGroups: ['traffic.example.com']
  resources: ['trafficweights']
  verbs: ['list', 'watch']
# The Prometheus that a TrafficStack uses.
- apiGroups: ['traffic.example.com']
  resources: ['trafficstacks']
  verbs: ['list', 'watch']
- apiGroups: ['traffic.example.com']
  resources: ['trafficweights/status']
  verbs: ['patch']
# Hosts and load balancers.
- apiGroups: ['networking.k8s.io']
  resources: ['ingresses']
  verbs: ['list', 'watch']
# Hosts and addresses of HTTPRoutes, in a cluster with the Gateway API.
- apiGroups: ['gateway.networking.k8s.io']
  resources: ['httproutes', 'gateways', 'listenersets']
  verbs: ['list', 'watch']
# Which Services are ready.
- apiGroups: ['discovery.k8s.io']
  resources: ['endpointslices']
  verbs: ['list', 'watch']
# For spec.namespaceSelector, and the listeners that select by namespace.
- apiGroups: ['']
  resources: ['namespaces']
  verbs: ['list', 'watch']
# The records, which external-dns publishes.
- apiGroups: ['externaldns.k8s.io']
  resources: ['dnsendpoints']
  verbs: ['list', 'watch', 'create', 'patch', 'delete']
{{- end -}}

{{- define "traffic-operator.rights.weights.own" -}}
# For spec.backend.configMap.
- apiGroups: ['']
  resources: ['configmaps']
  verbs: ['get']
# Whether the operator has made the Prometheus that is queried.
- apiGroups: ['']
  resources: ['services']
  resourceNames: ['prometheus']
  verbs: ['get']
- apiGroups: ['apps']
  resources: ['deployments']
  resourceNames: ['prometheus']
  verbs: ['get']
{{- end -}}

{{- define "traffic-operator.rights.stacks.cluster" -}}
# The workloads of components.
- apiGroups: ['apps']
  resources: ['deployments', 'statefulsets', 'daemonsets']
  verbs: ['get', 'list', 'watch']
# The Services and files of components.
- apiGroups: ['']
  resources: ['services', 'configmaps']
  verbs: ['get', 'list', 'watch']
# The last ready revision of components, for rollbacks.
- apiGroups: ['apps']
  resources: ['controllerrevisions']
  verbs: ['get', 'list', 'watch']
# The PrometheusRule of a component of the type Rules.
- apiGroups: ['monitoring.coreos.com']
  resources: ['prometheusrules']
  verbs: ['get', 'list', 'watch']
# Of components with high availability.
- apiGroups: ['policy']
  resources: ['poddisruptionbudgets']
  verbs: ['get', 'list', 'watch']
# The ServiceAccounts of built-in components. The rights to write them are by their names.
- apiGroups: ['']
  resources: ['serviceaccounts']
  verbs: ['get', 'list', 'watch']
# Why a component is not ready, where no status tells: a quota, a volume, a probe.
- apiGroups: ['events.k8s.io']
  resources: ['events']
  verbs: ['list']
{{- end -}}

{{- define "traffic-operator.rights.stacks.own" -}}
{{- end -}}

{{- define "traffic-operator.rights.stacks.namespaces" -}}
# The workloads of components: in every namespace, or only in the namespaces of a value.
- apiGroups: ['apps']
  resources: ['deployments', 'statefulsets', 'daemonsets']
  verbs: ['create', 'patch', 'delete']
# The Services and files of components: in every namespace, or only in the namespaces of a value.
- apiGroups: ['']
  resources: ['services', 'configmaps']
  verbs: ['create', 'patch', 'delete']
# The last ready revision of components, for rollbacks: in every namespace, or only in the namespaces of a value.
- apiGroups: ['apps']
  resources: ['controllerrevisions']
  verbs: ['create', 'patch', 'delete']
# The PrometheusRule of a component of the type Rules: in every namespace, or only in the namespaces of a value.
- apiGroups: ['monitoring.coreos.com']
  resources: ['prometheusrules']
  verbs: ['create', 'patch', 'delete']
# Of components with high availability: in every namespace, or only in the namespaces of a value.
- apiGroups: ['policy']
  resources: ['poddisruptionbudgets']
  verbs: ['create', 'patch', 'delete']
# One of a failed revision, which a StatefulSet would wait for.
- apiGroups: ['']
  resources: ['pods']
  verbs: ['delete']
{{- end -}}

{{- define "traffic-operator.rights.stacks.weights.cluster" -}}
# The TrafficWeights of components.
- apiGroups: ['traffic.example.com']
  resources: ['trafficweights']
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete']
{{- end -}}

{{- define "traffic-operator.rights.stacks.weights.own" -}}
{{- end -}}

{{- define "traffic-operator.rights.connectivityServer.cluster" -}}
- apiGroups: ['']
  resources: ['pods', 'nodes']
  verbs: ['list', 'watch']
- apiGroups: ['traffic.example.com']
  resources: ['connectivitychecks']
  verbs: ['list', 'watch']
- apiGroups: ['authentication.k8s.io']
  resources: ['tokenreviews']
  verbs: ['create']
{{- end -}}

{{- define "traffic-operator.rights.connectivityServer.own" -}}
- apiGroups: ['network-checker.ext']
  resources: ['agents']
  verbs: ['list', 'create', 'patch', 'delete']
{{- end -}}
