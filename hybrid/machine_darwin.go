package hybrid

import (
	"os/exec"
	"strings"
)

// systemID returns the system's own id of this machine; "" where there is none.
func systemID() (string, error) {
	text, err := exec.Command("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output()
	if err != nil {
		return "", nil // as in a sandbox
	}
	_, id, _ := strings.Cut(string(text), `"IOPlatformUUID" = "`)
	id, _, _ = strings.Cut(id, `"`)
	return id, nil
}
