package hybrid

import (
	"os/exec"
	"strings"
)

// systemID returns what the system tells this machine by; "" where it does not tell.
func systemID() (string, error) {
	text, err := exec.Command("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output()
	if err != nil {
		return "", nil // as in a sandbox
	}
	_, id, _ := strings.Cut(string(text), `"IOPlatformUUID" = "`)
	id, _, _ = strings.Cut(id, `"`)
	return id, nil
}
