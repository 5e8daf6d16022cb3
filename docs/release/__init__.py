"""What a release is checked for, beside its tests: what is in it, under which licences, and where its tables come from.

``locked``    the packages of the lock file
``sbom``      a bill of materials (CycloneDX) of them and of the data that is shipped
``licences``  what each of them is licensed under, and whether that is allowed
``tables``    the hash of each shipped table, and of what it was made from
"""
