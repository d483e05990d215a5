package manifests

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const overlays = "/deploy/kubernetes/overlays/"

// tree is what kustomize reads of the project, in memory; fault replaces one text in one file, once.
func tree(t *testing.T, fault ...string) filesys.FileSystem {
	t.Helper()
	memory, faulty := filesys.MakeFsInMemory(), false
	for _, folder := range []string{"deploy/kubernetes", "bench/database", "bench/k6"} {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".sql", ".js"}, filepath.Ext(path)) {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			inner, err := filepath.Rel("../..", path)
			if err != nil {
				return err
			}
			if len(fault) > 0 && strings.HasSuffix(inner, fault[0]) && strings.Contains(string(text), fault[1]) {
				text, faulty = []byte(strings.Replace(string(text), fault[1], fault[2], 1)), true
			}
			return memory.WriteFile("/"+filepath.ToSlash(inner), text)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(fault) > 0 && !faulty {
		t.Fatalf("%s does not hold %q", fault[0], fault[1])
	}
	return memory
}

// images are those that compose.yaml names.
func images(t *testing.T) (named []string) {
	t.Helper()
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			Image string `json:"image"`
		} `json:"services"`
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	for _, service := range compose.Services {
		named = append(named, service.Image)
	}
	return named
}

func build(t *testing.T, overlay string) []Object {
	t.Helper()
	objects, err := Build(tree(t), overlays+overlay)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func deployments(objects []Object) map[string]*appsv1.Deployment {
	found := map[string]*appsv1.Deployment{}
	for _, object := range objects {
		if deployment, is := object.Value.(*appsv1.Deployment); is {
			found[object.Name] = deployment
		}
	}
	return found
}

func contenders(objects []Object) map[string]*appsv1.Deployment {
	found := deployments(objects)
	for name, deployment := range found {
		if deployment.Spec.Template.Labels[component] != "contender" {
			delete(found, name)
		}
	}
	return found
}

func TestEveryOverlayIsReadByTheServersTypesAndKeepsTheRules(t *testing.T) {
	for _, overlay := range []string{"try", "measure", "operator"} {
		t.Run(overlay, func(t *testing.T) {
			for _, sentence := range Mistakes(build(t, overlay), images(t)) {
				t.Error(sentence)
			}
		})
	}
}

func TestAllContendersComeFromTheOneBase(t *testing.T) {
	there := contenders(build(t, "try"))
	if len(there) != 7 {
		t.Fatalf("%d contenders", len(there))
	}
	reference := there["go"].Spec.Template.Spec
	for name, deployment := range there {
		spec := deployment.Spec.Template.Spec
		container, other := spec.Containers[0], reference.Containers[0]
		if container.Resources.Limits.Cpu().Cmp(*other.Resources.Limits.Cpu()) != 0 || container.Resources.Limits.Memory().Cmp(*other.Resources.Limits.Memory()) != 0 {
			t.Errorf("%s: other limits than go", name)
		}
		if !slices.EqualFunc(container.Env[:len(other.Env)], other.Env, func(a, b corev1.EnvVar) bool { return a.Name == b.Name && a.Value == b.Value }) {
			t.Errorf("%s: other settings than go", name)
		}
		if deployment.Spec.Template.Labels["app.kubernetes.io/name"] != name || deployment.Spec.Selector.MatchLabels["app.kubernetes.io/name"] != name {
			t.Errorf("%s: not found by its name", name)
		}
		if started := *deployment.Spec.Replicas == 1; started != (name == "go") {
			t.Errorf("%s: started %v", name, started)
		}
	}
}

func TestProbesAskTheContractsHealthEndpoints(t *testing.T) {
	for name, deployment := range contenders(build(t, "try")) {
		container := deployment.Spec.Template.Spec.Containers[0]
		for endpoint, probe := range map[string]*corev1.Probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != endpoint {
				t.Errorf("%s: nothing asks %s", name, endpoint)
			}
		}
	}
}

func TestWhileMeasuringNothingProbesAndEachRoleHasItsNodes(t *testing.T) {
	for _, overlay := range []string{"measure", "operator"} {
		for name, deployment := range deployments(build(t, overlay)) {
			spec := deployment.Spec.Template.Spec
			if container := spec.Containers[0]; container.LivenessProbe != nil || container.ReadinessProbe != nil || container.StartupProbe == nil {
				t.Errorf("%s %s: probes are load", overlay, name)
			}
			if spec.NodeSelector[roleOfNode] == "" || spec.Tolerations[0].Value != spec.NodeSelector[roleOfNode] {
				t.Errorf("%s %s: on any node", overlay, name)
			}
		}
		for name, deployment := range contenders(build(t, overlay)) {
			if affinity := deployment.Spec.Template.Spec.Affinity; affinity == nil || len(affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) != 1 {
				t.Errorf("%s %s: it may share a node with another contender", overlay, name)
			}
			if *deployment.Spec.Replicas != 0 {
				t.Errorf("%s %s: it runs before it is asked to", overlay, name)
			}
		}
	}
}

func TestAFieldThatNoTypeHasIsAnError(t *testing.T) {
	for name, fault := range map[string][]string{
		"in a container": {"contender/contender.yaml", "imagePullPolicy:", "imagePullPolice:", `"spec.template.spec.containers[0].imagePullPolice"`},
		"by a capital":   {"contender/contender.yaml", "readOnlyRootFilesystem", "readonlyRootFilesystem", "readonlyRootFilesystem"},
		"in a pod":       {"base/database.yaml", "automountServiceAccountToken", "automountServiceAccountTokens", "automountServiceAccountTokens"},
		"in a policy":    {"base/network.yaml", "policyTypes", "policytypes", `NetworkPolicy nobody: unknown field "spec.policytypes"`},
		"in a service":   {"base/upstream.yaml", "targetPort", "target", "Service upstream: unknown field"},
		"in a patch":     {"placement/kustomization.yaml", "topologyKey", "topologykey", "topologykey"},
		"in a job":       {"generator/generator.yaml", "backoffLimit", "backOffLimit", `Job generator: unknown field "spec.backOffLimit"`},
		"in a contender": {"contenders/go/kustomization.yaml", "images:", "imagez:", "imagez"},
		"in a TestRun":   {"operator/testrun.yaml", "parallelism", "paralellism", `TestRun load: unknown field "spec.paralellism"`},
		"no quantity":    {"base/upstream.yaml", "memory: 1Gi", "memory: 1 Gi", "Deployment upstream: quantities must match"},
		"no kind":        {"base/upstream.yaml", "kind: Deployment", "kind: Deploiment", "apps/v1 Deploiment upstream: no type is known"},
	} {
		t.Run(name, func(t *testing.T) {
			overlay := "measure"
			if name == "in a TestRun" {
				overlay = "operator"
			}
			_, err := Build(tree(t, fault[:3]...), overlays+overlay)
			if err == nil || !strings.Contains(err.Error(), fault[3]) {
				t.Errorf("not named: %v", err)
			}
		})
	}
}

func TestAFaultThatAServerWouldAcceptIsNamed(t *testing.T) {
	const base, one, part = "base/upstream.yaml", "contender/contender.yaml", "generator/generator.yaml"
	for name, fault := range map[string][]string{
		"root":                  {base, "runAsNonRoot: true", "runAsNonRoot: false", "it may be root"},
		"no filter":             {base, "RuntimeDefault", "Unconfined", "no seccomp filter"},
		"a token":               {base, "automountServiceAccountToken: false", "automountServiceAccountToken: true", "a token"},
		"the node's network":    {base, "enableServiceLinks: false", "hostNetwork: true", "the node's namespaces"},
		"a writable root":       {one, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "a writable root"},
		"privileges":            {one, "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true", "gain privileges"},
		"capabilities":          {one, "drop: [ALL]", "drop: [NET_RAW]", "capabilities"},
		"more than it requests": {one, `limits: { cpu: "1"`, `limits: { cpu: "2"`, "cpu: it requests 1"},
		"no memory limit":       {one, `limits: { cpu: "1", memory: 2Gi }`, `limits: { cpu: "1" }`, "memory: it requests"},
		"pulled each time":      {base, "IfNotPresent", "Always", "imagePullPolicy"},
		"another image":         {base, "image: nsb-upstream", "image: upstream:latest", "no image of compose.yaml"},
		"settings of nobody":    {one, "name: settings", "name: setting", "no ConfigMap setting"},
		"a secret of nobody":    {one, "name: account", "name: accounts", "MYSQL_PASSWORD comes from no Secret"},
		"a volume of nobody":    {one, "name: tmp, mountPath", "name: temp, mountPath", "no volume temp"},
		"a folder of the node":  {one, "emptyDir: { medium: Memory, sizeLimit: 64Mi }", "hostPath: { path: /tmp }", "neither a ConfigMap nor empty"},
		"an open network":       {"base/network.yaml", "podSelector: {}", "podSelector: { matchLabels: { a: b } }", "no network policy closes"},
		"a service of nobody":   {base, "selector: { app.kubernetes.io/component: upstream }", "selector: { app.kubernetes.io/component: up }", "leads to no pod"},
		"a load at once":        {part, "suspend: true", "suspend: false", "would start when it is applied"},
		"a job that stays":      {part, "ttlSecondsAfterFinished: 600", "ttlSecondsAfterFinished: null", "it would stay"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := Build(tree(t, fault[:3]...), overlays+"measure")
			if err != nil {
				t.Fatal(err)
			}
			found := Mistakes(objects, images(t))
			if !slices.ContainsFunc(found, func(each string) bool { return strings.Contains(each, fault[3]) }) {
				t.Errorf("not named: %q", found)
			}
		})
	}
}
