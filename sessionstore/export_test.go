package sessionstore

// OpenWithSeam is Open for tests: the seam sees what changes the disk.
var OpenWithSeam = open
