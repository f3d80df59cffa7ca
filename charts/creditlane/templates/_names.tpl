{{/* Names, labels and small pieces. */}}

{{- define "creditlane.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "creditlane.secretPrefix" -}}
{{- .Values.secretPrefix | default (include "creditlane.fullname" .) }}
{{- end }}

{{- define "creditlane.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* The version of the image: its tag, or else the beginning of its digest, as sha256-0123456789ab. */}}
{{- define "creditlane.version" -}}
{{- $digest := .Values.image.digest | default "" | replace ":" "-" | trunc 19 }}
{{- .Values.image.tag | default $digest | default .Chart.AppVersion }}
{{- end }}

{{/* What selects every pod of the release. */}}
{{- define "creditlane.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "creditlane.labels" -}}
{{ include "creditlane.selector" . }}
app.kubernetes.io/version: {{ include "creditlane.version" . | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The services, each with the defaults for what it does not say itself. */}}
{{- define "creditlane.services" -}}
{{- $all := dict }}
{{- range $name, $service := .Values.services }}
{{- $entry := mergeOverwrite (deepCopy $.Values.defaults) (deepCopy $service) }}
{{- $_ := set $entry "resources" (include "creditlane.resources" (list $ $name $service) | fromYaml) }}
{{- /* Its two fields exclude each other. */}}
{{- with $service.podDisruptionBudget }}{{ $_ := set $entry "podDisruptionBudget" . }}{{ end }}
{{- $_ := set $all $name $entry }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/*
The resources of the pods of Jobs. Each lasts some seconds: of 0.6 to 1.0 s of CPU time, with up to 145 MiB. Values of a chart
before `jobs` lack it (`helm upgrade --reuse-values`).
*/}}
{{- define "creditlane.jobResources" -}}
{{- $default := dict "requests" (dict "cpu" "50m" "memory" "192Mi") "limits" (dict "memory" "512Mi") }}
{{- include "creditlane.mergedResources" (list "Jobs" $default (.Values.jobs).resources) }}
{{- end }}

{{/*
The drain of a pod: argument (list $ $service). A DRAIN_TIME among the settings, or else drainSeconds, which only the gateway uses.
Values of a chart before drainSeconds lack it (`helm upgrade --reuse-values`).
*/}}
{{- define "creditlane.drainSeconds" -}}
{{- $seconds := (index . 0).Values.shutdown.drainSeconds }}
{{- with include "creditlane.setting" (append . "DRAIN_TIME") }}{{ include "creditlane.seconds" . }}
{{- else }}{{ if kindIs "invalid" $seconds }}7{{ else }}{{ $seconds }}{{ end }}
{{- end }}
{{- end }}

{{/*
The time in which a pod closes: argument (list $ $service). 20 s, and 12 s more for the answer of a bureau; longer where the
settings of the service ask for it. After `helm upgrade --reuse-values` from an earlier chart the values lack it.
*/}}
{{- define "creditlane.closeSeconds" -}}
{{- $root := index . 0 }}{{- $service := index . 1 }}
{{- $seconds := $root.Values.shutdown.closeSeconds | default 32 }}
{{- range $setting, $more := dict "BUREAU_DEADLINE" 12 "CLOSE_GRACE" 11 }}
{{- with get ($service.settings | default dict) $setting }}
{{- $seconds = max $seconds (add (include "creditlane.seconds" .) $more) }}
{{- end }}
{{- end }}
{{- $seconds }}
{{- end }}

{{/* The whole seconds of a time span of docs/settings.md, such as 250ms, 20s or 2m, rounded up. */}}
{{- define "creditlane.seconds" -}}
{{- $unit := regexFind `[a-z]+$` . }}
{{- $seconds := get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0) $unit | default 1.0 }}
{{- mulf (trimSuffix $unit .) $seconds | ceil | int }}
{{- end }}

{{/*
The resources of a service's pod: argument (list $ $name $service). Values of a chart before resourceDefaults lack them
(`helm upgrade --reuse-values`).
*/}}
{{- define "creditlane.resources" -}}
{{- $root := index . 0 }}{{- $name := index . 1 }}{{- $service := index . 2 }}
{{- include "creditlane.mergedResources" (list $name $service.resourceDefaults $root.Values.defaults.resources $service.resources) }}
{{- end }}

{{/*
Resources of several sources: argument (list $name $source…). A later source overrides an earlier one, and null removes what
the earlier ones have: sprig's functions that merge skip it. Refuses a limit below the request.
*/}}
{{- define "creditlane.mergedResources" -}}
{{- $name := first . }}
{{- $resources := dict "requests" dict "limits" dict }}
{{- range $source := rest . }}
{{- range $kind, $quantities := $source | default dict }}
{{- if kindIs "invalid" $quantities }}{{ $_ := set $resources $kind dict }}{{ end }}
{{- range $what, $quantity := $quantities }}
{{- if kindIs "invalid" $quantity }}{{ $_ := unset (get $resources $kind) $what }}
{{- else }}{{ $_ := set (get $resources $kind) $what $quantity }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range $what, $limit := $resources.limits }}
{{- $request := get $resources.requests $what | default 0 }}
{{- if lt (include "creditlane.quantity" $limit | float64) (include "creditlane.quantity" $request | float64) }}
{{- fail (printf "resources of %s: the %s limit %v is below the request %v; raise the limit, or set the request, too" $name $what $limit $request) }}
{{- end }}
{{- end }}
{{- toYaml $resources }}
{{- end }}

{{/* A quantity of Kubernetes, such as 512Mi or 100m, as a number. */}}
{{- define "creditlane.quantity" -}}
{{- $units := dict "" 1.0 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 }}
{{- $text := toString . }}
{{- $number := regexFind `^[0-9.]+([eE][+-]?[0-9]+)?` $text }}
{{- printf "%f" (mulf (float64 $number) (get $units (trimPrefix $number $text) | default 1.0)) }}
{{- end }}

{{/* The value of a setting of a service: argument (list $ $service "NAME"). */}}
{{- define "creditlane.setting" -}}
{{- $root := index . 0 }}{{- $service := index . 1 }}{{- $name := index . 2 }}
{{- get ($service.settings | default dict) $name | default (get $root.Values.settings $name) }}
{{- end }}

{{/* NetworkPolicyPeers of hosts: argument (dict "what" "postgres" "peers" list "hosts" list "namespace" text). */}}
{{- define "creditlane.peers" -}}
{{- if .peers }}{{ toYaml .peers }}
{{- else }}
{{- range .hosts }}
{{- if regexMatch `^\d+\.\d+\.\d+\.\d+$` . }}
- ipBlock: { cidr: {{ . }}/32 }
{{- else if regexMatch `^[^.]+\.[^.]+\.svc(\..*)?$|^[^.]+\.[^.]+\.[^.]+\.svc(\..*)?$` . }}
- namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: {{ regexReplaceAll `^(?:[^.]+\.){1,2}?([^.]+)\.svc(\..*)?$` . "${1}" }} }
{{- else }}
{{- fail (printf "%s.peers is needed for network policies: the addresses of %s, such as [{ipBlock: {cidr: 10.1.2.3/32}}]" $.what .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
