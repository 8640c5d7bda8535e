package sessiondir

import (
	"os"
	"path/filepath"
	"strings"
)

// AmplifierHome returns $AMPLIFIER_HOME or ~/.amplifier, which need not exist.
func AmplifierHome() (string, error) {
	home := os.Getenv("AMPLIFIER_HOME")
	if home == "" {
		home = "~/.amplifier"
	}
	if home == "~" || strings.HasPrefix(home, "~/") || strings.HasPrefix(home, `~\`) {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		home = filepath.Join(user, home[1:])
	}
	return filepath.Abs(home)
}
