"""The documentation site: pages of the reference from the product itself, and all pages as mkdocs takes them.

python -m docsite reference       writes docs/reference
python -m docsite stage FOLDER    copies the pages to FOLDER, from which mkdocs makes the site
python -m docsite picture LAKE    draws docs/images/report.png from a lake; needs the packages of `make browser`
"""
