package manifests

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	component  = "app.kubernetes.io/component"
	whoStarts  = "cell" // the ConfigMap that whoever starts a load makes
	roleOfNode = "nsb/role"
)

// A pod is what a Deployment, a Job or a TestRun makes.
type pod struct {
	name   string
	labels map[string]string
	spec   corev1.PodSpec
}

// Mistakes are sentences about an overlay that a server would accept: a pod that may do too much, or wait for what nobody makes; images is
// what compose.yaml names.
func Mistakes(objects []Object, images []string) []string {
	var found []string
	say := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	there := map[string]bool{"ConfigMap " + whoStarts: true}
	var pods []pod
	closed := false
	for _, object := range objects {
		there[object.Kind+" "+object.Name] = true
		switch value := object.Value.(type) {
		case *appsv1.Deployment:
			if selector, err := metav1.LabelSelectorAsMap(value.Spec.Selector); err != nil || !holds(value.Spec.Template.Labels, selector) {
				say("%s: its selector does not fit its pods", object.Name)
			}
			pods = append(pods, pod{object.Name, value.Spec.Template.Labels, value.Spec.Template.Spec})
		case *batchv1.Job:
			if value.Spec.Suspend == nil || !*value.Spec.Suspend {
				say("%s: it would start when it is applied", object.Name)
			}
			if value.Spec.TTLSecondsAfterFinished == nil || value.Spec.ActiveDeadlineSeconds == nil {
				say("%s: without a time limit of its own it would stay", object.Name)
			}
			pods = append(pods, pod{object.Name, value.Spec.Template.Labels, value.Spec.Template.Spec})
		case *TestRun:
			pods = append(pods, value.Spec.Runner.pod(object.Name))
			if reference := value.Spec.Script.ConfigMap.Name; !exists(objects, "ConfigMap", reference) {
				say("%s: there is no ConfigMap %s", object.Name, reference)
			}
		case *networkingv1.NetworkPolicy:
			closed = closed || len(value.Spec.PodSelector.MatchLabels)+len(value.Spec.PodSelector.MatchExpressions) == 0 &&
				len(value.Spec.PolicyTypes) == 2 && len(value.Spec.Ingress)+len(value.Spec.Egress) == 0
		}
	}
	if !closed {
		say("no network policy closes what none opens")
	}
	for _, object := range objects {
		service, is := object.Value.(*corev1.Service)
		if is && !slices.ContainsFunc(pods, func(each pod) bool { return holds(each.labels, service.Spec.Selector) }) {
			say("%s: the service leads to no pod", object.Name)
		}
	}
	for _, each := range pods {
		for _, sentence := range each.mistakes(there, images) {
			say("%s: %s", each.name, sentence)
		}
	}
	return found
}

func (r Runner) pod(name string) pod {
	mounts := r.AutomountServiceAccountToken != "false"
	return pod{name, r.Metadata.Labels, corev1.PodSpec{
		AutomountServiceAccountToken: &mounts, SecurityContext: &r.SecurityContext, NodeSelector: r.NodeSelector,
		Containers: []corev1.Container{{
			Image: r.Image, ImagePullPolicy: r.ImagePullPolicy, Env: r.Env, EnvFrom: r.EnvFrom, Resources: r.Resources,
			SecurityContext: &r.ContainerSecurityContext,
		}},
	}}
}

func (p pod) mistakes(there map[string]bool, images []string) (found []string) {
	say := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	of := p.spec.SecurityContext
	if of == nil || of.RunAsNonRoot == nil || !*of.RunAsNonRoot || of.RunAsUser == nil || *of.RunAsUser == 0 {
		say("it may be root")
	}
	if of == nil || of.SeccompProfile == nil || of.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		say("no seccomp filter")
	}
	if p.spec.AutomountServiceAccountToken == nil || *p.spec.AutomountServiceAccountToken {
		say("it gets a token of the cluster")
	}
	if p.spec.HostNetwork || p.spec.HostPID || p.spec.HostIPC {
		say("it shares the node's namespaces")
	}
	var volumes []string
	for _, volume := range p.spec.Volumes {
		volumes = append(volumes, volume.Name)
		switch {
		case volume.ConfigMap != nil && !there["ConfigMap "+volume.ConfigMap.Name]:
			say("there is no ConfigMap %s", volume.ConfigMap.Name)
		case volume.ConfigMap == nil && volume.EmptyDir == nil:
			say("volume %s is neither a ConfigMap nor empty", volume.Name)
		}
	}
	for _, container := range p.spec.Containers {
		found = append(found, mistakesOf(container, there, images)...)
		for _, mount := range container.VolumeMounts {
			if !slices.Contains(volumes, mount.Name) {
				say("there is no volume %s", mount.Name)
			}
		}
	}
	return found
}

func mistakesOf(container corev1.Container, there map[string]bool, images []string) (found []string) {
	say := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	if !slices.Contains(images, container.Image) {
		say("%s is no image of compose.yaml", container.Image)
	}
	if container.ImagePullPolicy != corev1.PullIfNotPresent {
		say("imagePullPolicy is %q: an image that is only on the node would not be found", container.ImagePullPolicy)
	}
	may := container.SecurityContext
	if may == nil || may.AllowPrivilegeEscalation == nil || *may.AllowPrivilegeEscalation {
		say("it may gain privileges")
	}
	if may == nil || may.ReadOnlyRootFilesystem == nil || !*may.ReadOnlyRootFilesystem {
		say("a writable root")
	}
	if may == nil || may.Capabilities == nil || !slices.Equal(may.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(may.Capabilities.Add) > 0 {
		say("it keeps capabilities")
	}
	for _, what := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, limit := container.Resources.Requests[what], container.Resources.Limits[what]
		if request.IsZero() || request.Cmp(limit) != 0 {
			say("%s: it requests %s and is limited to %s", what, request.String(), limit.String())
		}
	}
	for _, each := range container.EnvFrom {
		if each.ConfigMapRef != nil && !there["ConfigMap "+each.ConfigMapRef.Name] {
			say("there is no ConfigMap %s", each.ConfigMapRef.Name)
		}
		if each.SecretRef != nil && !there["Secret "+each.SecretRef.Name] {
			say("there is no Secret %s", each.SecretRef.Name)
		}
	}
	for _, each := range container.Env {
		if from := each.ValueFrom; from != nil && (from.SecretKeyRef == nil || !there["Secret "+from.SecretKeyRef.Name]) {
			say("%s comes from no Secret that is there", each.Name)
		}
	}
	return found
}

func holds(labels, selector map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

func exists(objects []Object, kind, name string) bool {
	return slices.ContainsFunc(objects, func(each Object) bool { return each.Kind == kind && each.Name == name })
}
