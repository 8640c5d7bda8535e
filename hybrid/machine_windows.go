package hybrid

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows/registry"
)

// systemID returns what the system tells this machine by; "" for nothing.
func systemID() (id string, err error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err == nil {
		id, _, err = key.GetStringValue("MachineGuid")
		err = errors.Join(err, key.Close())
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	return id, err
}
