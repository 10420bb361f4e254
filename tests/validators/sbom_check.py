"""Checks a bill of materials against the schema of CycloneDX, which the library brings. Prints the problem."""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
version = SchemaVersion.from_version(json.loads(text)["specVersion"])
problem = JsonStrictValidator(version).validate_str(text)
print(problem or "valid")
sys.exit(1 if problem else 0)
